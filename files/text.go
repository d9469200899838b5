package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// binaryHead tells from a file's beginning that it is no text.
func binaryHead(head []byte) bool {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return true
	}
	if _, wide := wideOrder(head); wide {
		return false
	}
	return bytes.IndexByte(head, 0) >= 0
}

// decode turns a file's bytes into UTF-8 with \n line ends. It knows UTF-8 and
// UTF-16 by their marks, and takes what is clearly text and no UTF-8 for
// Windows-1252. It is false for what is no text.
func decode(raw []byte) (string, bool) {
	var text string
	if order, wide := wideOrder(raw); wide {
		text = decodeWide(raw[2:], order)
	} else {
		raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		switch {
		case utf8.Valid(raw):
			text = string(raw)
		case westernText(raw):
			text = decodeWestern(raw)
		default:
			return "", false
		}
	}
	if strings.ContainsRune(text, 0) {
		return "", false
	}
	return lineEnds(text), true
}

// wideOrder recognises the byte order mark of UTF-16, but not UTF-32's.
func wideOrder(raw []byte) (binary.ByteOrder, bool) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe, 0, 0}):
		return nil, false
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return binary.LittleEndian, true
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return binary.BigEndian, true
	}
	return nil, false
}

func decodeWide(raw []byte, order binary.ByteOrder) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, order.Uint16(raw[i:]))
	}
	return string(utf16.Decode(units))
}

// western is what Windows-1252 has between 0x80 and 0x9f; 0 is unused.
var western = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// westernText tells whether bytes that are no UTF-8 are clearly text: no control
// characters but blanks, and mostly ASCII.
func westernText(raw []byte) bool {
	high := 0
	for _, c := range raw {
		switch {
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b, c == 0x7f:
			return false
		case 0x80 <= c && c < 0xa0 && western[c-0x80] == 0:
			return false
		case c >= 0x80:
			high++
		}
	}
	return high*10 <= len(raw)*3
}

func decodeWestern(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw) + len(raw)/8)
	for _, c := range raw {
		if 0x80 <= c && c < 0xa0 {
			b.WriteRune(western[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

func lineEnds(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.Contains(text, "\n") { // an old Macintosh's
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}

// splitLines returns the lines without their ends. A line end at the end of the
// text begins no further line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// pick sets the text to the lines that are wanted.
func (f *File) pick(text string, w *wanted) {
	lines := splitLines(text)
	f.Lines = len(lines)
	f.First = min(1, f.Lines)
	if w.whole {
		f.Text = text
		return
	}
	f.Ranges = within(w.ranges, f.Lines)
	if len(f.Ranges) == 0 {
		return
	}
	f.First = f.Ranges[0].From
	var b strings.Builder
	for i, r := range f.Ranges {
		if i > 0 {
			b.WriteString(omission(f.Ranges[i-1].To+1, r.From-1) + "\n")
		}
		for _, line := range lines[r.From-1 : r.To] {
			b.WriteString(line + "\n")
		}
	}
	f.Text = b.String()
}

func omission(from, to int) string {
	if from == to {
		return fmt.Sprintf("[… line %d left out …]", from)
	}
	return fmt.Sprintf("[… lines %d to %d left out …]", from, to)
}

// Number returns a file's text with each line's number in the file before it.
func Number(f File) string {
	lines := splitLines(f.Text)
	ranges := f.Ranges
	if len(ranges) == 0 {
		ranges = []Range{{From: f.First, To: f.First + len(lines) - 1}}
	}
	width := max(4, len(strconv.Itoa(ranges[len(ranges)-1].To)))
	var b strings.Builder
	b.Grow(len(f.Text) + len(lines)*(width+4))
	for i, r := range ranges {
		if i > 0 && len(lines) > 0 {
			fmt.Fprintf(&b, "%*s│ %s\n", width, "", lines[0])
			lines = lines[1:]
		}
		for n := r.From; n <= r.To && len(lines) > 0; n++ {
			fmt.Fprintf(&b, "%*d│ %s\n", width, n, lines[0])
			lines = lines[1:]
		}
	}
	return b.String()
}
