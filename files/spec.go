package files

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Range is lines of a file, counted from 1, both ends included.
type Range struct{ From, To int }

// lastLine stands for a range's open end until the file's length is known.
const lastLine = 1<<31 - 1

// mostRanges keeps a spec from being a program.
const mostRanges = 100

// cutRanges splits "path{10:50}" into the path and what is between the braces.
func cutRanges(spec string) (path, ranges string, ok bool) {
	if !strings.HasSuffix(spec, "}") {
		return spec, "", false
	}
	open := strings.LastIndexByte(spec, '{')
	if open <= 0 {
		return spec, "", false
	}
	return spec[:open], spec[open+1 : len(spec)-1], true
}

// parseRanges reads "10:50,80:90", "100:", ":20" and "7".
func parseRanges(text string) ([]Range, error) {
	parts := strings.Split(text, ",")
	if len(parts) > mostRanges {
		return nil, fmt.Errorf("more than %d line ranges", mostRanges)
	}
	var out []Range
	for _, part := range parts {
		r, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRange(text string) (Range, error) {
	from, to, colon := strings.Cut(text, ":")
	if from == "" && to == "" {
		return Range{}, fmt.Errorf("%q names no lines", "{"+shown(text)+"}")
	}
	r := Range{From: 1, To: lastLine}
	var err error
	if from != "" {
		if r.From, err = lineNumber(from); err != nil {
			return Range{}, err
		}
	}
	switch {
	case !colon:
		r.To = r.From
	case to != "":
		if r.To, err = lineNumber(to); err != nil {
			return Range{}, err
		}
	}
	if r.From > r.To {
		return Range{}, fmt.Errorf("the line range %s ends before it begins", shown(text))
	}
	return r, nil
}

func lineNumber(text string) (int, error) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, fmt.Errorf("%q is not a line number", shown(text))
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > lastLine {
		return lastLine, nil //nolint:nilerr // digits only, so it is too big, and the end of the file is nearer
	}
	if n == 0 {
		return 0, fmt.Errorf("lines are counted from 1, not %q", shown(text))
	}
	return n, nil
}

// within sorts and joins ranges and cuts them to a file of so many lines. A
// range past the end becomes the last line.
func within(ranges []Range, lines int) []Range {
	if lines == 0 {
		return nil
	}
	var out []Range
	for _, r := range ranges {
		out = append(out, Range{min(r.From, lines), min(r.To, lines)})
	}
	slices.SortFunc(out, func(a, b Range) int { return a.From - b.From })
	joined := out[:0]
	for _, r := range out {
		if n := len(joined); n > 0 && r.From <= joined[n-1].To+1 {
			joined[n-1].To = max(joined[n-1].To, r.To)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}
