package files

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"parley"
)

// problem is why something that was named cannot be sent.
type problem struct {
	spec string
	code parley.Code
	why  string
}

// problems of one call are told together, so that one more call mends them all.
type problems struct{ list []problem }

func (p *problems) addf(spec string, code parley.Code, format string, args ...any) {
	p.list = append(p.list, problem{spec: spec, code: code, why: fmt.Sprintf(format, args...)})
}

// byWeight: a call with several kinds of problem gets the code of the gravest. A
// refusal is never hidden behind a spelling mistake.
var byWeight = []parley.Code{
	parley.CodeFileAccessDenied, parley.CodeInvalidArgument, parley.CodeFileNotFound, parley.CodeUnsupportedFile, parley.CodeFileTooLarge,
}

const mostNamed = 20

func (p *problems) err(hints func(parley.Code) string) error {
	if len(p.list) == 0 {
		return nil
	}
	code := p.list[0].code
	for _, c := range byWeight {
		if slices.ContainsFunc(p.list, func(x problem) bool { return x.code == c }) {
			code = c
			break
		}
	}
	var b strings.Builder
	if len(p.list) == 1 {
		fmt.Fprintf(&b, "%s: %s", shown(p.list[0].spec), p.list[0].why)
	} else {
		fmt.Fprintf(&b, "%d of the files cannot be sent:", len(p.list))
		for i, x := range p.list {
			if i == mostNamed {
				fmt.Fprintf(&b, "\n- and %d more", len(p.list)-i)
				break
			}
			fmt.Fprintf(&b, "\n- %s: %s (%s)", shown(x.spec), x.why, x.code)
		}
	}
	return &parley.Error{Code: code, Message: b.String(), Hint: hints(code)}
}

// hint says what to do about a code.
func (c *call) hint() func(parley.Code) string {
	return func(code parley.Code) string {
		switch code {
		case parley.CodeFileAccessDenied:
			if len(c.r.roots) == 0 {
				return "Start parley in a project's folder, or name one with --root DIR."
			}
			return "Readable are files under " + listed(c.r.Roots()) + ", except keys and .env files; --root DIR adds a folder. Leave the others out."
		case parley.CodeFileNotFound:
			if len(c.r.roots) == 1 {
				return "Paths are absolute or relative to " + shown(c.r.roots[0].real) + "."
			}
			return "Paths are absolute, or relative to one of " + listed(c.r.Roots()) + "."
		case parley.CodeInvalidArgument:
			return "Lines are picked with path{10:50}, path{10:50,80:90}, path{100:}, path{:20} or path{7}; patterns know **, *, ? and [a-z]."
		case parley.CodeUnsupportedFile:
			return "Texts go into files; jpeg, png, gif, webp and bmp pictures into images."
		case parley.CodeFileTooLarge:
			return "Name fewer or smaller files."
		default:
			return ""
		}
	}
}

func listed(paths []string) string {
	var out []string
	for i, p := range paths {
		if i == 5 {
			out = append(out, "…")
			break
		}
		out = append(out, shown(p))
	}
	return strings.Join(out, ", ")
}

// shown makes a foreign name safe to show: on one line, and not too long.
func shown(name string) string {
	const most = 200
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most/2]) + "…" + string(runes[len(runes)-most/2+1:])
	}
	if name == "" {
		return `""`
	}
	return name
}

// cause is an error without the path it repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
