package listen

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
)

type row struct{ Name, Value string }

// rows sorts the health facts for the page.
func rows(health map[string]any) []row {
	var list []row
	for _, name := range slices.Sorted(maps.Keys(health)) {
		list = append(list, row{name, fmt.Sprint(health[name])})
	}
	return list
}

var page = template.Must(template.New("health").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>parley</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse}td{padding:.2rem 1rem .2rem 0;vertical-align:top}td:first-child{color:#666}
code{background:#f2f2f2;padding:.1rem .3rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}td:first-child{color:#999}code{background:#2a2a2a}}
</style>
<h1>parley</h1>
<p>This server is up. MCP clients connect to <code>/mcp</code> on this address; the same facts as JSON are at <code>/health</code>.</p>
<table>{{range .}}<tr><td>{{.Name}}</td><td>{{.Value}}</td></tr>{{end}}</table>
</html>
`))
