package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// troubles are homes that cannot be used, by what is wrong with them. Each
// returns the file that must not change.
func troubles() map[string]func(t *testing.T, r *rig) string {
	return map[string]func(t *testing.T, r *rig) string{
		"newer version": func(t *testing.T, r *rig) string {
			t.Helper()
			r.run("chat", "one?")
			file := filepath.Join(r.home, "parley.db")
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("UPDATE meta SET schema = 99, min_reader = 99"); err != nil {
				t.Fatal(err)
			}
			return file
		},
		"damaged": func(t *testing.T, r *rig) string {
			t.Helper()
			return plant(t, r.home, "parley.db", strings.Repeat("this is no database ", 1000))
		},
		"truncated": func(t *testing.T, r *rig) string {
			t.Helper()
			r.run("chat", "one?")
			file := filepath.Join(r.home, "parley.db")
			if err := os.Truncate(file, 5000); err != nil {
				t.Fatal(err)
			}
			return file
		},
		"file in place of the folder": func(t *testing.T, r *rig) string {
			t.Helper()
			if err := os.WriteFile(r.home, []byte("not a folder"), 0o600); err != nil {
				t.Fatal(err)
			}
			return r.home
		},
		"read-only": func(t *testing.T, r *rig) string {
			t.Helper()
			file := plant(t, r.home, "note", "mine")
			if err := os.Chmod(r.home, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(r.home, 0o700) })
			if probe, err := os.Create(filepath.Join(r.home, "probe")); err == nil {
				_ = probe.Close()
				_ = os.Remove(probe.Name())
				t.Skip("this user writes to read-only folders")
			}
			return file
		},
	}
}

func plant(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestUnusableStoreIsExplainedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, spoil := range troubles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			file := spoil(t, r)
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r.up.Reset()
			for _, command := range [][]string{{"serve"}, {"chat", "two?"}, {"threads", "list"}, {"runs", "list"}} {
				got := r.run(command...)
				lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
				if got.code != 1 || got.stdout != "" || len(lines) != 2 || !strings.HasPrefix(lines[0], "parley: ") {
					t.Errorf("%v: exit code %d, want 1, a sentence and a hint\n%s%s", command, got.code, got.stdout, got.stderr)
				}
			}
			doctor := r.run("doctor")
			if doctor.code != 1 || !strings.Contains(doctor.stdout, "PROBLEM  store") || !strings.Contains(doctor.stdout, "→") {
				t.Errorf("doctor: exit code %d\n%s%s", doctor.code, doctor.stdout, doctor.stderr)
			}
			// A client does not see stderr: the server starts and says it itself.
			s := r.serve()
			if got := s.call("chat", args{"prompt": "two?"}); !got.isError || got.Code != "STORE_UNAVAILABLE" || got.Hint == "" {
				t.Errorf("chat: %s", got.text)
			}
			s.ok("completed", "version", args{})
			_ = s.stdin.Close()
			if code := s.end(); code != 1 {
				t.Errorf("serve: exit code %d, want 1", code)
			}
			after, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s was changed (%v)", file, err)
			}
			r.exactly(0)
		})
	}
}
