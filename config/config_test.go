package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/config"
)

// world is a home, a project and an environment of the test's own.
type world struct {
	t       *testing.T
	project string
	env     map[string]string
}

func setup(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, project: filepath.Join(dir, "project"), env: map[string]string{
		"PARLEY_HOME": filepath.Join(dir, "home"), "PARLEY_CONFIG": filepath.Join(dir, "parley.toml"),
	}}
	w.write(filepath.Join(w.project, ".git", "HEAD"), "")
	w.write(w.env["PARLEY_CONFIG"], "")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load(change ...func(*config.Source)) (config.Config, error) {
	src := config.Source{Dir: w.project, Env: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }}
	for _, f := range change {
		f(&src)
	}
	return config.Load(src)
}

func TestOrder(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.write(filepath.Join(w.project, "parley.toml"), `default_model = "from-project"`)
	cfg, err := w.load()
	if err != nil || cfg.DefaultModel != "from-project" || cfg.Project != w.project {
		t.Fatalf("project file: %+v, %v", cfg, err)
	}
	w.write(w.env["PARLEY_CONFIG"], "default_model = \"from-user\"\ndurability = \"full\"\n[openai]\nkey = \"sk-file\"\nbase_url = \"http://127.0.0.1:1/v1\"\n")
	cfg, err = w.load()
	if err != nil || cfg.DefaultModel != "from-user" || cfg.Durability != "full" || cfg.OpenAI.Key != "sk-file" {
		t.Fatalf("user file: %+v, %v", cfg, err)
	}
	w.env["DEFAULT_MODEL"], w.env["OPENAI_API_KEY"] = "from-env", "sk-env"
	cfg, err = w.load()
	if err != nil || cfg.DefaultModel != "from-env" || cfg.OpenAI.Key != "sk-env" || cfg.OpenAI.BaseURL != "http://127.0.0.1:1/v1" {
		t.Fatalf("environment: %+v, %v", cfg, err)
	}
	if diff := cmp.Diff([]string{"sk-env"}, cfg.Secrets()); diff != "" {
		t.Error(diff)
	}
}

func TestEnvFile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	name := filepath.Join(t.TempDir(), "keys")
	w.write(name, "# comment\nexport OPENAI_API_KEY=\"sk-file\"\n\nDEFAULT_MODEL=o3\n")
	w.env["DEFAULT_MODEL"] = "gpt-5"
	cfg, err := w.load(func(s *config.Source) { s.EnvFile = name })
	if err != nil || cfg.OpenAI.Key != "sk-file" || cfg.DefaultModel != "gpt-5" {
		t.Errorf("%+v, %v", cfg, err)
	}
	w.write(filepath.Join(w.project, ".env"), "CUSTOM_API_URL=http://127.0.0.1:1\n")
	if cfg, err = w.load(); err != nil || cfg.Custom.URL != "" || cfg.OpenAI.Key != "" {
		t.Errorf("a project's .env was read: %+v, %v", cfg, err)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.env["PARLEY_PROGRESS_INTERVAL"], w.env["REQUEST_TIMEOUT_MS"] = "1.5", "300000"
	w.env["MAX_MCP_OUTPUT_TOKENS"], w.env["CONVERSATION_TIMEOUT_HOURS"] = "1000", "24"
	w.env["DISABLED_TOOLS"], w.env["INJECT_CURRENT_DATE"] = "challenge, chat", "true"
	cfg, err := w.load()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.ProgressEvery != 1500*time.Millisecond || cfg.Block != 5*time.Minute || cfg.MaxChars != 4000 ||
		cfg.ThreadIdle != 24*time.Hour || !cfg.StampDate || cmp.Diff([]string{"challenge", "chat"}, cfg.DisabledTools) != "" {
		t.Errorf("%+v", cfg)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		user, project string
		env           [2]string
		says, hint    string
	}{
		{name: "UnknownKey", user: `defualt_model = "x"`, says: `"defualt_model"`, hint: "default_model"},
		{name: "UnknownTable", user: "[openia]\nkey = \"x\"", says: `"openia.key"`, hint: "openai.key"},
		{name: "NotTOML", user: "= =", says: "TOML"},
		{name: "WrongWord", user: `durability = "some"`, says: "normal, full"},
		{name: "ProjectBaseURL", project: "[openai]\nbase_url = \"http://evil.example\"", says: `"openai.base_url"`, hint: "your own"},
		{name: "ProjectKey", project: "[openai]\nkey = \"sk\"", says: `"openai.key"`, hint: "your own"},
		{name: "ProjectCustom", project: "[custom]\nurl = \"http://evil.example\"", says: `"custom.url"`, hint: "your own"},
		{name: "Address", env: [2]string{"OPENAI_BASE_URL", "not a url"}, says: "OPENAI_BASE_URL"},
		{name: "KeyAsAddress", env: [2]string{"OPENAI_BASE_URL", "sk-secret"}, says: "OPENAI_BASE_URL: it is not"},
		{name: "FileAddress", env: [2]string{"CUSTOM_API_URL", "file:///etc/passwd"}, says: "CUSTOM_API_URL"},
		{name: "Duration", env: [2]string{"PARLEY_PROGRESS_INTERVAL", "-1"}, says: "PARLEY_PROGRESS_INTERVAL"},
		{name: "Number", env: [2]string{"HTTP_PORT", "70000"}, says: "HTTP_PORT"},
		{name: "Level", env: [2]string{"LOG_LEVEL", "loud"}, says: "LOG_LEVEL"},
		{name: "Flag", env: [2]string{"INJECT_CURRENT_DATE", "perhaps"}, says: "INJECT_CURRENT_DATE"},
		{name: "Wire", env: [2]string{"OPENAI_WIRE", "telex"}, says: "responses, chat"},
		{name: "NoSuchFile", env: [2]string{"PARLEY_CONFIG", "/nowhere/parley.toml"}, says: "/nowhere/parley.toml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.write(w.env["PARLEY_CONFIG"], c.user)
			if c.project != "" {
				w.write(filepath.Join(w.project, "parley.toml"), c.project)
			}
			if c.env[0] != "" {
				w.env[c.env[0]] = c.env[1]
			}
			_, err := w.load()
			e := parley.AsError(err)
			if e == nil || e.Code != parley.CodeInvalidArgument || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%v (hint %q), want it to say %q and hint %q", err, e.Hint, c.says, c.hint)
			}
		})
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	w := setup(t)
	deep := filepath.Join(w.project, "a", "b")
	w.write(filepath.Join(deep, "file"), "")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home directory here")
	}
	for dir, want := range map[string]string{deep: w.project, "/": "", home: "", "": ""} {
		cfg, err := w.load(func(s *config.Source) { s.Dir = dir })
		if err != nil || cfg.Project != want {
			t.Errorf("project of %q is %q, want %q (%v)", dir, cfg.Project, want, err)
		}
	}
}

// A project's file came with the code: links to devices, to stdin or out of the
// project must not be followed.
func TestProjectFileMustBeAFile(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/dev/zero", "/dev/stdin", "/etc/passwd"} {
		w := setup(t)
		if err := os.Symlink(target, filepath.Join(w.project, "parley.toml")); err != nil {
			t.Skip("no symbolic links here")
		}
		if _, err := w.load(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", target, err)
		}
	}
	w := setup(t)
	w.write(filepath.Join(w.project, "parley.toml"), strings.Repeat("# long\n", 100_000))
	if _, err := w.load(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a large file: %v", err)
	}
}

func TestHomeIsOnePlace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	user, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home directory here")
	}
	w.env["PARLEY_HOME"] = "~/x"
	if cfg, err := w.load(); err != nil || cfg.Home != filepath.Join(user, "x") {
		t.Errorf("%q %v", cfg.Home, err)
	}
	w.env["PARLEY_HOME"] = "x"
	if cfg, err := w.load(); err != nil || !filepath.IsAbs(cfg.Home) {
		t.Errorf("%q %v", cfg.Home, err)
	}
}

func TestAllowedModels(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.env["OPENAI_ALLOWED_MODELS"] = "gpt5-mini, o3"
	cfg, err := w.load()
	if diff := cmp.Diff(map[string][]string{"openai": {"gpt5-mini", "o3"}}, cfg.Allowed); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestAnEmptyPARLEYCONFIGIsNone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.env["PARLEY_CONFIG"] = ""
	if _, err := w.load(); err != nil {
		t.Error(err)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	w := setup(t)
	delete(w.env, "PARLEY_HOME")
	w.env["XDG_DATA_HOME"] = "/data"
	if cfg, err := w.load(); err != nil || cfg.Home != "/data/parley" {
		t.Errorf("%q %v", cfg.Home, err)
	}
	w.env["XDG_DATA_HOME"] = "relative"
	if cfg, err := w.load(); err != nil || !filepath.IsAbs(cfg.Home) {
		t.Errorf("%q %v", cfg.Home, err)
	}
}
