package files

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWindowsRefusal(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"a.txt", `a\b.txt`, "a/b.txt", `C:\a\b.txt`, "c:/a", `..\a`, ".", "console.txt", "com.go", "com10", "lpt", "nullable.go", "auxiliary", ".env", "a{1}"} {
		if why := windowsRefusal(ok); why != "" {
			t.Errorf("%s: %s", ok, why)
		}
	}
	for _, bad := range []string{
		`\\server\share\a`, "//server/share/a", `\\?\C:\a`, `\\.\pipe\x`, `\??\C:\a`, "C:a", "C:", `\a`, "/a", `a\NUL`, "nul", "NUL.txt", "con", "Con.tar.gz", "aux ", "aux .txt",
		"COM1", "com9.log", "LPT1", "COM¹", "CONIN$", "conout$", "CLOCK$", "a.txt:stream", "a.txt::$DATA", "dir/a:b", "a.", "a ", `a.\b`, "a<b", `a"b`, "a|b", "a\x01b", `C:\a\PRN`,
	} {
		if windowsRefusal(bad) == "" {
			t.Errorf("%q is allowed", bad)
		}
	}
}

func TestMatchName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"*", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "abcd", false},
		{"a*b*c", "aXbYbZc", true},
		{"?", "ä", true},
		{"??", "ä", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[^a]", "b", true},
		{"[]a]", "]", true},
		{"[a-]", "-", true},
		{"[[:digit:]]", "7", true},
		{"[[:alpha:]x]", "7", false},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"[", "[", true},
		{"[a", "[a", true},
		{`[\]]`, "]", true},
		{"a**b", "axxb", true},
		{"*.go", ".go", true},
		{`a\`, `a\`, true},
	} {
		if got := matchName(c.pattern, c.name); got != c.want {
			t.Errorf("matchName(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestMatchPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**", "a", true},
		{"**", "a/b", true},
		{"a/**", "a", false},
		{"a/**", "a/b/c", true},
		{"**/b", "b", true},
		{"**/b", "a/x/b", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/y", false},
		{"**/a/**/b", "x/a/y/a/b", true},
		{"a/*", "a/b/c", false},
		{"**/*.go", "x.go", true},
		{"**/a/*", "a/a/b", true},
	} {
		if got := matchPath(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("matchPath(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

// TestMatchNameAgrees compares with the standard library's, which has no **
// and no classes by name.
func TestMatchNameAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "[^a]", "[a-c]", "ä", `\*`}), 0, 8).Draw(t, "pattern"), "")
		name := rapid.StringOfN(rapid.RuneFrom([]rune("abcä*")), 0, 8, -1).Draw(t, "name")
		want, err := path.Match(pattern, name)
		if err != nil {
			t.Skip()
		}
		if got := matchName(pattern, name); got != want {
			t.Fatalf("matchName(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	})
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, path string
		folder     bool
		want       bool
	}{
		{"*.log", "a/b.log", false, true},
		{"*.log\n!b.log", "a/b.log", false, false},
		{"!b.log\n*.log", "b.log", false, true},
		{"/a", "a", false, true},
		{"/a", "x/a", false, false},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"x/build/", "x/build", true, true},
		{"**/x", "a/b/x", false, true},
		{"a/**", "a/b", false, true},
		{"a/**", "a", true, false},
		{"a/**/b", "a/b", false, true},
		{"# c", "# c", false, false},
		{`\#c`, "#c", false, true},
		{`\!c`, "!c", false, true},
		{"a ", "a", false, true},
		{`a\ `, "a ", false, true},
		{"a\r", "a", false, true},
		{"\ufeffa", "a", false, true},
		{"/", "a", false, false},
		{"", "a", false, false},
		{"!", "a", false, false},
		{"[ab].x", "b.x", false, true},
		{"foo/*", "foo/bar", false, true},
		{"foo/*", "foo/bar/baz", false, false},
		{"*", "a", false, true},
	} {
		if got := ignored([]ignore{parseIgnore(nil, c.text)}, strings.Split(c.path, "/"), c.folder); got != c.want {
			t.Errorf("%q ignores %q: %v", c.text, c.path, got)
		}
	}
	inner := []ignore{parseIgnore(nil, "*.log"), parseIgnore([]string{"a"}, "!keep.log\n/top.txt")}
	for p, want := range map[string]bool{"a/x.log": true, "a/keep.log": false, "a/top.txt": true, "a/b/top.txt": false} {
		if got := ignored(inner, strings.Split(p, "/"), false); got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 30).Draw(t, "lines")
		ranges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
			from := rapid.IntRange(1, 40).Draw(t, "from")
			return Range{from, rapid.IntRange(from, 50).Draw(t, "to")}
		}), 0, 6).Draw(t, "ranges")
		asked := slices.Clone(ranges)
		got := within(ranges, count)
		last := -1
		has := map[int]bool{}
		for _, r := range got {
			if r.From <= last+1 && last >= 0 || r.From < 1 || r.To > count || r.From > r.To {
				t.Fatalf("%v of %d lines became %v", asked, count, got)
			}
			last = r.To
			for n := r.From; n <= r.To; n++ {
				has[n] = true
			}
		}
		for _, r := range asked {
			for n := r.From; n <= min(r.To, count); n++ {
				if !has[n] {
					t.Fatalf("line %d is missing in %v", n, got)
				}
			}
		}
	})
}

func FuzzParseRanges(f *testing.F) {
	for _, s := range []string{"10:50", "10:50,80:90", "100:", ":20", "7", "", ":", "5:2", "x", "0", "1:2:3", " 1 : 2 "} {
		f.Add(s)
	}
	valid := regexp.MustCompile(`^[0-9:, \pZ\t\n\v\f\r\x{85}]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		ranges, err := parseRanges(text)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Fatalf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !valid.MatchString(text) || len(ranges) == 0 {
			t.Fatalf("%q was read as %v", text, ranges)
		}
		for _, r := range ranges {
			if r.From < 1 || r.From > r.To {
				t.Fatalf("%q was read as %v", text, ranges)
			}
		}
	})
}

func FuzzSpec(f *testing.F) {
	for _, s := range []string{"a{1:2}", "a{b}{1}", "{1}", "a/{x}/b", "**/*.go", "/a/*/b", "a[", "*{1:2}", "./*", "//a//*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		name, ranges, ok := cutRanges(spec)
		if ok && name+"{"+ranges+"}" != spec || !ok && name != spec {
			t.Fatalf("%q was cut into %q and %q", spec, name, ranges)
		}
		dir, rest := fixedPart(name)
		if isPattern(strings.Join(rest, "/")) != isPattern(name) && isPattern(dir) {
			t.Fatalf("%q: the fixed part %q is a pattern", name, dir)
		}
		windowsRefusal(spec)
		shown(spec)
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("a/**/[b-d]*", "a/x/bc")
	f.Add("[[:alpha:]", "[")
	f.Add(`\`, `\`)
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 200 || len(name) > 200 {
			return
		}
		matchPath(strings.Split(pattern, "/"), strings.Split(name, "/"))
		if !strings.ContainsAny(name, `*?[\/`) && !matchName(name, name) {
			t.Fatalf("%q does not match itself", name)
		}
		if !strings.Contains(name, "/") && !matchPath([]string{"**"}, []string{name}) {
			t.Fatalf("** does not match %q", name)
		}
	})
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.log\n!a/b\n/c/\n\\#\n", "a/b/c.log")
	f.Fuzz(func(_ *testing.T, text, name string) {
		if len(text) > 2000 || len(name) > 200 {
			return
		}
		ignored([]ignore{parseIgnore(nil, text)}, strings.Split(name, "/"), true)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\r\nb"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, ok := decode(raw)
		if ok && strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			t.Fatalf("%q became %q", raw, text)
		}
	})
}
