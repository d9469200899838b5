package telemetry_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/telemetry"
)

func TestSecretsAreMaskedEverywhere(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret"
	home, stderr := t.TempDir(), &strings.Builder{}
	log := telemetry.Open(telemetry.Options{Home: home, Stderr: stderr, Secrets: []string{key, ""}})
	log.Error("key is "+key, "header", "Bearer "+key, "error", errors.New("refused "+key), "list", []string{key})
	log.With("bound", key).WithGroup("g").Warn("more", "inner", key)
	log.Close()
	file, err := os.ReadFile(filepath.Join(home, "logs", "parley.log"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"stderr": stderr.String(), "file": string(file)} {
		if strings.Contains(text, key) || !strings.Contains(text, "[key]") {
			t.Errorf("%s: %s", where, text)
		}
	}
}

func TestFileHasTheDetailsAndStderrTheWarnings(t *testing.T) {
	t.Parallel()
	home, stderr := t.TempDir(), &strings.Builder{}
	log := telemetry.Open(telemetry.Options{Home: home, Stderr: stderr, Level: slog.LevelInfo})
	log.Debug("debugged")
	log.Info("informed")
	log.Warn("warned")
	log.Close()
	name := filepath.Join(home, "logs", "parley.log")
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(file); strings.Contains(s, "debugged") || !strings.Contains(s, "informed") || !strings.Contains(s, "warned") {
		t.Errorf("file: %s", s)
	}
	if s := stderr.String(); strings.Contains(s, "informed") || !strings.Contains(s, "warned") {
		t.Errorf("stderr: %s", s)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

func TestNoFileIsNoTragedy(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stderr := &strings.Builder{}
	log := telemetry.Open(telemetry.Options{Home: blocked, Stderr: stderr})
	log.Warn("still heard")
	log.Close()
	if s := stderr.String(); !strings.Contains(s, "stderr only") || !strings.Contains(s, "still heard") {
		t.Error(s)
	}
}
