package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"parley"
	"parley/nearest"
)

// Source is where a configuration comes from.
type Source struct {
	// Env looks a variable up; os.LookupEnv outside of tests.
	Env func(string) (string, bool)
	// EnvFile is a file of NAME=value lines that stands in for variables that
	// are not set; empty for none. A project's .env is never read by itself.
	EnvFile string
	// Dir is the working directory.
	Dir string
}

// Load reads all sources. Its errors name the source, the setting and what
// would be right.
func Load(src Source) (Config, error) {
	env, err := src.lookup()
	if err != nil {
		return Config{}, err
	}
	cfg := defaults()
	if dir, ok := env("CLIENT_CWD"); ok && dir != "" {
		src.Dir = dir
	}
	cfg.Project = projectOf(src.Dir)
	if cfg.ProjectFile, err = readProject(&cfg); err != nil {
		return Config{}, err
	}
	if cfg.File, err = readUser(&cfg, env); err != nil {
		return Config{}, err
	}
	for _, s := range Settings() {
		for _, name := range s.Env {
			v, ok := env(name)
			if !ok || strings.TrimSpace(v) == "" {
				continue
			}
			if err := s.set(&cfg, strings.TrimSpace(v)); err != nil {
				return Config{}, parley.Errorf(parley.CodeInvalidArgument, "the variable %s: %w", name, err).WithHint("Set it right or unset it.")
			}
			break
		}
	}
	if cfg.Home == "" {
		if cfg.Home, err = dataDir(env); err != nil {
			return Config{}, err
		}
	}
	cfg.Home, err = absolute(cfg.Home)
	return cfg, err
}

func (src Source) lookup() (func(string) (string, bool), error) {
	if src.EnvFile == "" {
		return src.Env, nil
	}
	data, err := readSmall(src.EnvFile)
	if err != nil {
		return nil, err
	}
	extra := map[string]string{}
	for n, l := range strings.Split(string(data), "\n") {
		l = strings.TrimPrefix(strings.TrimSpace(l), "export ")
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		name, value, ok := strings.Cut(l, "=")
		if !ok {
			return nil, parley.Errorf(parley.CodeInvalidArgument, "line %d of %s is not NAME=value", n+1, src.EnvFile)
		}
		extra[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return func(name string) (string, bool) {
		if v, ok := src.Env(name); ok {
			return v, true
		}
		v, ok := extra[name]
		return v, ok
	}, nil
}

// readUser reads the user's file. That it is not there is only an error if it
// was named.
func readUser(cfg *Config, env func(string) (string, bool)) (string, error) {
	name, _ := env("PARLEY_CONFIG")
	named := name != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", nil //nolint:nilerr // no home, so no file
		}
		name = filepath.Join(dir, "parley", "parley.toml")
	}
	err := readFile(cfg, name, func(Setting) bool { return true })
	if errors.Is(err, fs.ErrNotExist) && !named {
		return "", nil
	}
	return name, err
}

// readProject reads a parley.toml inside the project, which came with the code
// and may only choose what cannot hurt.
func readProject(cfg *Config) (string, error) {
	if cfg.Project == "" {
		return "", nil
	}
	name := filepath.Join(cfg.Project, "parley.toml")
	// It came with the code: a link could point at a device, at stdin, or out of
	// the project.
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return "", parley.Errorf(parley.CodeInvalidArgument, "%s is not a regular file, so it is not read", name).
			WithHint("Remove it, or put a real file in its place.")
	}
	err := readFile(cfg, name, func(s Setting) bool { return s.Project })
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return name, err
}

// configLimit is far more than any configuration needs.
const configLimit = 256 << 10

// readSmall reads a regular file of reasonable size; anything else would hang,
// flood the memory, or be somebody else's.
func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, parley.Errorf(parley.CodeInvalidArgument, "cannot read %s: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, parley.Errorf(parley.CodeInvalidArgument, "%s is not a regular file", name)
	case info.Size() > configLimit:
		return nil, parley.Errorf(parley.CodeInvalidArgument, "%s is too large for a configuration: %d bytes", name, info.Size())
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalidArgument, "cannot read %s: %w", name, err)
	}
	return data, nil
}

func readFile(cfg *Config, name string, allowed func(Setting) bool) error {
	data, err := readSmall(name)
	if err != nil {
		return err
	}
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return parley.Errorf(parley.CodeInvalidArgument, "%s is not valid TOML: %w", name, err)
	}
	known := map[string]Setting{}
	for _, s := range Settings() {
		if s.Key != "" {
			known[s.Key] = s
		}
	}
	values := map[string]string{}
	flatten("", tree, values)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s, ok := known[key]
		switch {
		case !ok:
			err := parley.Errorf(parley.CodeInvalidArgument, "%s: there is no setting %q", name, key)
			if near := nearest.Names(key, slices.Sorted(maps.Keys(known)), 1); len(near) > 0 {
				return err.WithHint("Did you mean %s?", near[0])
			}
			return err.WithHint("The settings are %s.", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case !allowed(s):
			return parley.Errorf(parley.CodeInvalidArgument, "%s: a project may not set %q", name, key).
				WithHint("Move this line to your own parley.toml: a file that comes with a project never chooses where your questions and keys go.")
		}
		if err := s.set(cfg, values[key]); err != nil {
			return parley.Errorf(parley.CodeInvalidArgument, "%s: %s: %w", name, key, err)
		}
	}
	return nil
}

// flatten turns nested tables into dotted keys.
func flatten(prefix string, tree map[string]any, into map[string]string) {
	for k, v := range tree {
		switch v := v.(type) {
		case map[string]any:
			flatten(prefix+k+".", v, into)
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = fmt.Sprint(w)
			}
			into[prefix+k] = strings.Join(words, ",")
		default:
			into[prefix+k] = fmt.Sprint(v)
		}
	}
}
