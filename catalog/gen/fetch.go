package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pin is one version of an npm package, and what its archive must hash to.
type pin struct {
	Package   string `json:"package"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

func (p pin) String() string { return p.Package + "@" + p.Version }

type pins struct {
	Models pin `json:"models"`
	Prices pin `json:"prices"`
}

func readPins(data []byte) (pins, error) {
	var p pins
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&p); err != nil {
		return pins{}, fmt.Errorf("pins.json: %w", err)
	}
	return p, nil
}

// maxUnpacked is far more than either package has.
const maxUnpacked = 256 << 20

// refresh makes data/upstream.json from the pinned packages.
func refresh(ctx context.Context, dir, cache string, out io.Writer) error {
	p, err := readPins(pinned)
	if err != nil {
		return err
	}
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(base, "parley-catalog")
	}
	cache, err = filepath.Abs(cache)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return err
	}
	models, err := p.Models.get(ctx, cache)
	if err != nil {
		return err
	}
	prices, err := p.Prices.get(ctx, cache)
	if err != nil {
		return err
	}
	up, err := extract(p.Models, models)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Models, err)
	}
	if err := crossCheck(ctx, up, prices, out); err != nil {
		// Knowing the other opinion is good; not having it must not stop the work.
		fmt.Fprintf(out, "prices were not compared with %s: %v\n", p.Prices, err)
	}
	data, err := encodeUpstream(up)
	if err != nil {
		return err
	}
	return writeChanged(filepath.Join(dir, "data", "upstream.json"), data)
}

// get returns the files of the package, from the cache or by npm, after
// verifying the archive.
func (p pin) get(ctx context.Context, cache string) (map[string][]byte, error) {
	name := filepath.Join(cache, strings.NewReplacer("@", "", "/", "-").Replace(p.Package)+"-"+p.Version+".tgz")
	archive, err := os.ReadFile(name)
	if err != nil || p.verify(archive) != nil {
		npm := exec.CommandContext(ctx, "npm", "pack", p.String(), "--silent", "--pack-destination", cache)
		npm.Dir, npm.Stderr = cache, os.Stderr
		if err := npm.Run(); err != nil {
			return nil, fmt.Errorf("npm pack %s: %w", p, err)
		}
		if archive, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if err := p.verify(archive); err != nil {
		return nil, err
	}
	return unpack(archive)
}

// integrity is what npm calls the hash of an archive.
func integrity(archive []byte) string {
	sum := sha512.Sum512(archive)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (p pin) verify(archive []byte) error {
	if got := integrity(archive); got != p.Integrity {
		return fmt.Errorf("%s has the integrity %s, and %s is pinned", p, got, p.Integrity)
	}
	return nil
}

// unpack returns the archive's files without the folder that npm puts them in.
func unpack(archive []byte) (map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	unpacked := map[string][]byte{}
	in := tar.NewReader(io.LimitReader(zipped, maxUnpacked))
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return unpacked, nil
		}
		if err != nil {
			return nil, err
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		unpacked[strings.TrimPrefix(head.Name, "package/")] = data
	}
}
