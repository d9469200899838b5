package mcpserver

// ToolInfo is a tool as documents list it.
type ToolInfo struct {
	Name, Title, About string
	Fields             []FieldInfo
}

// FieldInfo is a published field of a tool.
type FieldInfo struct {
	Name     string
	Required bool
}

// Tools lists every tool with its published fields, for the documents.
func Tools() []ToolInfo {
	var list []ToolInfo
	for _, t := range toolbox(&server{}) {
		info := ToolInfo{Name: t.name, Title: t.title, About: t.about}
		for _, f := range t.fields {
			if !f.hidden && !f.later {
				info.Fields = append(info.Fields, FieldInfo{Name: f.name, Required: f.required})
			}
		}
		list = append(list, info)
	}
	return list
}
