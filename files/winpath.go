package files

import "strings"

// windowsRefusal tells why a path must not be given to Windows, or nothing. It
// is a function of the words alone: what a reserved name or a colon does there
// is decided before any file system is asked.
func windowsRefusal(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(path, `\\`) {
		return "a network or device path"
	}
	if strings.HasPrefix(path, `\??\`) {
		return "a device path"
	}
	if len(path) >= 2 && path[1] == ':' && letter(path[0]) {
		if len(path) < 3 || path[2] != '\\' {
			return "relative to a drive's own folder"
		}
		path = path[3:]
	} else if strings.HasPrefix(path, `\`) {
		return "relative to no drive"
	}
	for part := range strings.SplitSeq(path, `\`) {
		if why := windowsPart(part); why != "" {
			return why
		}
	}
	return ""
}

func windowsPart(part string) string {
	if part == "" || part == "." || part == ".." {
		return ""
	}
	if strings.ContainsRune(part, ':') {
		return "a colon inside a name (a stream of a file)"
	}
	if strings.TrimRight(part, ". ") != part {
		return "a name that ends with a dot or a blank"
	}
	base, _, _ := strings.Cut(part, ".")
	if windowsReserved(strings.ToUpper(strings.TrimRight(base, " "))) {
		return "a name that Windows keeps for a device"
	}
	for _, r := range part {
		if r < ' ' || strings.ContainsRune(`<>"|`, r) {
			return "a character that no name may have"
		}
	}
	return ""
}

func windowsReserved(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if rest, ok := strings.CutPrefix(name, port); ok {
			switch rest {
			case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
				return true
			}
		}
	}
	return false
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
