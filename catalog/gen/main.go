// Gen makes the catalogue of models.
//
//	go run ./catalog/gen          # from what is in the repository; needs no network
//	go run ./catalog/gen -fetch   # first refreshes data/upstream.json
//
// What others know about the models is in data/upstream.json: the pinned npm
// packages of pins.json, cut down to the vendors and fields we use. What we know
// is in data/ours.toml. Together they make data/models.json, which is what
// people review, and models_gen.go, the same as the program holds it. What
// changed is printed, model by model.
//
// To take a newer package, put its version and integrity (npm view PACKAGE@VERSION
// dist.integrity) into pins.json, run with -fetch, and read the differences.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

//go:embed pins.json
var pinned []byte

func main() {
	fetch := flag.Bool("fetch", false, "download the pinned packages with npm, and check prices with node")
	dir := flag.String("dir", "", "the catalog folder (found from the repository's top or from the folder itself)")
	cache := flag.String("cache", "", "where to keep the packages (a folder under the user's cache)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *fetch, *dir, *cache, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalog/gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, fetch bool, dir, cache string, out io.Writer) error {
	dir, err := findDir(dir)
	if err != nil {
		return err
	}
	if fetch {
		if err := refresh(ctx, dir, cache, out); err != nil {
			return err
		}
	}
	made, err := generate(dir)
	if err != nil {
		return err
	}
	return made.write(dir, out)
}

// findDir: go generate runs in the package's folder, people at the top.
func findDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	for _, dir := range []string{"catalog", "."} {
		if _, err := os.Stat(filepath.Join(dir, "data", "ours.toml")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("data/ours.toml is neither here nor in catalog; run from the repository's top, or give -dir")
}

// files are what is generated, by path in the catalog folder.
type files struct {
	modelsJSON []byte
	modelsGo   []byte
}

const (
	modelsJSON = "data/models.json"
	modelsGo   = "models_gen.go"
)

func generate(dir string) (files, error) {
	up, err := readUpstream(filepath.Join(dir, "data", "upstream.json"))
	if err != nil {
		return files{}, err
	}
	own, err := readOurs(filepath.Join(dir, "data", "ours.toml"))
	if err != nil {
		return files{}, err
	}
	providers, err := transform(up, own)
	if err != nil {
		return files{}, err
	}
	asGo, err := encodeGo(providers)
	if err != nil {
		return files{}, err
	}
	asJSON, err := encodeJSON(providers)
	return files{modelsJSON: asJSON, modelsGo: asGo}, err
}

func (f files) write(dir string, out io.Writer) error {
	before, err := os.ReadFile(filepath.Join(dir, modelsJSON))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := diff(out, before, f.modelsJSON); err != nil {
		return err
	}
	if err := writeChanged(filepath.Join(dir, modelsJSON), f.modelsJSON); err != nil {
		return err
	}
	return writeChanged(filepath.Join(dir, modelsGo), f.modelsGo)
}

func writeChanged(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return os.WriteFile(name, data, 0o644) //nolint:gosec // source code, for everybody to read
}
