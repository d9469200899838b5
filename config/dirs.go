package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"parley"
)

// dataDir is where state lives if PARLEY_HOME does not say.
func dataDir(env func(string) (string, bool)) (string, error) {
	if dir, ok := env("XDG_DATA_HOME"); ok && filepath.IsAbs(dir) && runtime.GOOS != "windows" {
		return filepath.Join(dir, "parley"), nil
	}
	if runtime.GOOS == "windows" {
		if dir, ok := env("LOCALAPPDATA"); ok && dir != "" {
			return filepath.Join(dir, "parley"), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", parley.Errorf(parley.CodeInvalidArgument, "there is no home directory to keep threads in").
			WithHint("Set PARLEY_HOME to a folder of your own.")
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "parley"), nil
	}
	return filepath.Join(home, ".local", "share", "parley"), nil
}

// absolute makes one place of a home that was written with ~ or relative to
// where the process happened to start.
func absolute(home string) (string, error) {
	if rest, ok := strings.CutPrefix(home, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", parley.Errorf(parley.CodeInvalidArgument, "PARLEY_HOME begins with ~, and there is no home directory").
				WithHint("Write the whole path.")
		}
		home = filepath.Join(user, rest)
	}
	whole, err := filepath.Abs(home)
	if err != nil {
		return "", parley.Errorf(parley.CodeInvalidArgument, "PARLEY_HOME is relative, and the working directory is gone: %w", err).
			WithHint("Write the whole path.")
	}
	return whole, nil
}

// projectOf is the git top of dir, else dir; empty if that is the file
// system's root or the home, which are no projects.
func projectOf(dir string) string {
	if dir == "" {
		return ""
	}
	dir = filepath.Clean(dir)
	home, _ := os.UserHomeDir()
	top := dir
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			top = at
			break
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	if top == home || filepath.Dir(top) == top {
		return ""
	}
	return top
}
