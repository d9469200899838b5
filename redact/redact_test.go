package redact_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/redact"
)

// Secrets are made here, so that nothing in the repository looks like one.
const (
	digits = "0123456789"
	hexes  = digits + "abcdef"
	lowers = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + lowers + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	upnum  = "234567" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func letters(from string, n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(from))))
	b := make([]byte, n)
	for i := range b {
		b[i] = from[rng.IntN(len(from))]
	}
	return string(b)
}

func jwt() string {
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		enc.EncodeToString([]byte(`{"sub":"1234567890","name":"J. Doe","iat":1516239022}`)) + "." + letters(alnum, 43)
}

func pemBlock(kind string, lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + kind + "-----\n")
	for range lines {
		b.WriteString(letters(alnum+"+/", 64) + "\n")
	}
	return b.String() + "-----END " + kind + "-----"
}

// secrets are values that must never leave, with the text around them.
var secrets = []struct {
	name, kind, before, secret, after string
}{
	{"AWS id", "aws-access-token", `id = "`, "AKIA" + letters(upnum, 16), `"`},
	{"AWS secret", "generic-api-key", "aws_secret_access_key = ", letters(alnum+"/+", 40), "\n"},
	{"GitHub", "github-pat", "token: ", "ghp_" + letters(alnum, 36), "\n"},
	{"GitHub fine-grained", "github-fine-grained-pat", "GH=", "github_pat_" + letters(alnum, 82), "\n"},
	{"GitLab", "gitlab-pat", "x ", "glpat-" + letters(alnum, 20), " y"},
	{"OpenAI project", "openai-api-key", `client = OpenAI(api_key="`, "sk-proj-" + letters(alnum, 74) + "T3Blbk" + "FJ" + letters(alnum, 74), `")`},
	{"OpenAI old", "openai-api-key", "OPENAI_API_KEY=", "sk-" + letters(alnum, 20) + "T3Blbk" + "FJ" + letters(alnum, 20), "\n"},
	{"Anthropic", "anthropic-api-key", `"`, "sk-ant-" + "api03-" + letters(alnum+"_-", 93) + "AA", `"`},
	{"Google", "gcp-api-key", "https://x.example/v1?key=", "AIza" + letters(alnum+"_-", 35), "&alt=sse"},
	{"Slack bot", "slack-bot-token", "SLACK=", "xoxb-" + letters(digits, 12) + "-" + letters(digits, 12) + "-" + letters(alnum, 24), "\n"},
	{"Slack hook", "slack-webhook-url", "curl ", "https://hooks.slack.com/services/" + letters(alnum, 44), "\n"},
	{"Stripe", "stripe-access-token", "key: ", "sk_" + "live_" + letters(alnum, 24), "\n"},
	{"npm", "npm-access-token", "//registry.example/:_authToken=", "npm_" + letters(lowers+digits, 36), "\n"},
	{"PyPI", "pypi-upload-token", "password = ", "pypi-" + "AgEIcHlwaS5vcmc" + letters(alnum, 60), "\n"},
	{"Hugging Face", "huggingface-access-token", `HF = "`, "hf_" + letters(lowers, 34), `"`},
	{"SendGrid", "sendgrid-api-token", "k=", "SG." + letters(alnum, 66), "\n"},
	{"JWT", "jwt", "cookie ", jwt(), "\n"},
	{"JWT, long", "jwt", "cookie ", strings.Replace(jwt(), ".", "."+"eyJ"+letters(alnum, 9000), 1), "\n"},
	{"OpenRouter", "openrouter-api-key", `k = "`, "sk-or-" + "v1-" + letters(hexes, 64), `"`},
	{"xAI", "xai-api-key", `k = "`, "xai-" + letters(alnum, 80), `"`},
	{"Groq", "groq-api-key", `k = "`, "gsk_" + letters(alnum, 52), `"`},
	{"DeepSeek", "sk-api-key", "export K=", "sk-" + letters(hexes, 32), "\n"},
	{"bearer", "bearer-token", "Authorization: Bearer ", letters(alnum, 40), "\n"},
	{"database", "url-password", "dsn: postgres://app:", letters(alnum, 16), "@db.internal:5432/app"},
	{"env line", "generic-api-key", "APP_SECRET=", letters(hexes, 40), "\n"},
	{"password", "generic-api-key", `"password": "`, "9rT" + letters(alnum, 20), `"`},
	{"RSA key", "private-key", "x\n", pemBlock("RSA "+"PRIVATE KEY", 12), "\ny"},
	{"EC key in JSON", "private-key", `{"private_key": "`, strings.ReplaceAll(pemBlock("PRIVATE "+"KEY", 3), "\n", `\n`), `\n"}`},
	{"SSH key", "private-key", "", pemBlock("OPENSSH "+"PRIVATE KEY", 6), "\n"},
	{"PGP key", "private-key", "", pemBlock("PGP "+"PRIVATE KEY BLOCK", 80), "\n"},
}

func TestMask(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	for _, c := range secrets {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, around := range []string{"", strings.Repeat("func main() { fmt.Println(1) }\n", 400)} {
				text := around + c.before + c.secret + c.after + around
				got, count, kinds := r.Mask(text)
				for line := range strings.Lines(c.secret) {
					if line = strings.TrimSpace(line); len(line) > 10 && strings.Contains(got, line) && !strings.HasPrefix(line, "-----") {
						t.Fatalf("the secret is still there: %.300q", got[len(around):])
					}
				}
				if count != 1 || !slices.Equal(kinds, []string{c.kind}) {
					t.Errorf("count, kinds = %d, %v, want 1, %s in %.300q", count, kinds, c.kind, got[len(around):])
				}
				if g, w := strings.Count(got, "\n"), strings.Count(text, "\n"); g != w {
					t.Errorf("%d line ends became %d", w, g)
				}
				if !strings.HasPrefix(got, around) || !strings.HasSuffix(got, around) {
					t.Error("the text around the secret changed")
				}
				if again, n, _ := r.Mask(got); again != got || n != 0 {
					t.Errorf("masking twice masked %d more: %.300q", n, again[len(around):])
				}
			}
		})
	}
}

func TestMaskLeavesOrdinaryText(t *testing.T) {
	t.Parallel()
	r := redact.New([]string{"", "test", "ollama"})
	for name, text := range map[string]string{
		"uuid":         `id: "` + "3f2504e0-4f89-41d3-9a0c-0305e82c3301" + `"`,
		"git":          "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nparent " + letters(hexes, 40),
		"go.sum":       "golang.org/x/sys v0.49.0 h1:" + letters(alnum, 43) + "=\n",
		"integrity":    `"integrity": "sha512-` + letters(alnum+"+/", 86) + `=="`,
		"image":        `<img src="data:image/png;base64,` + letters(alnum+"+/", 4000) + `">`,
		"ollama":       "run ollama test",
		"placeholder":  "OPENAI_API_KEY=your-key-here\nTOKEN=${TOKEN}\nexport GITHUB_TOKEN=$GITHUB_TOKEN",
		"go":           "apiKey := os.Getenv(\"OPENAI_API_KEY\")\ntoken, err := next(ctx, keyFromContext)\nAccessToken string `json:\"access_token\"`",
		"doc url":      "postgres://user:password@localhost:5432/db http://localhost:8080/a@b",
		"pem talk":     "A file with -----BEGIN " + "PRIVATE KEY----- is a key.",
		"pem markers":  "START = b\"-----BEGIN OPENSSH " + "PRIVATE KEY-----\"\nEND = b\"-----END OPENSSH " + "PRIVATE KEY-----\"\n",
		"public":       "-----BEGIN PUBLIC KEY-----\n" + letters(alnum, 64) + "\n-----END PUBLIC KEY-----",
		"css":          ".sk-folding-cube-wrapper-with-a-very-long-name { color: red }",
		"prose":        "The secret of the key is that authentication tokens, passwords: none of them matter.",
		"sha in test":  `want := "` + letters(hexes, 64) + `"`,
		"masked":       "key = [masked: generic-api-key] and [masked: jwt]",
		"bearer words": "Authorization: Bearer authentication-scheme-name",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, n, kinds := r.Mask(text); n != 0 || got != text {
				t.Errorf("%d masked (%v): %.200q", n, kinds, got)
			}
		})
	}
}

func TestMaskOwnKeys(t *testing.T) {
	t.Parallel()
	key := "my gateway's+key/1"
	r := redact.New([]string{key, "short"})
	got, n, kinds := r.Mask("a " + key + " b ?k=my+gateway%27s%2Bkey%2F1 short")
	if want := "a [masked: own-key] b ?k=[masked: own-key] short"; got != want || n != 2 || !slices.Equal(kinds, []string{"own-key"}) {
		t.Errorf("got %q, %d, %v, want %q", got, n, kinds, want)
	}
}

func TestMaskHalfKeys(t *testing.T) {
	t.Parallel()
	lines := strings.Split(pemBlock("RSA "+"PRIVATE KEY", 10), "\n")
	for name, part := range map[string][]string{"head": lines[:6], "tail": lines[5:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "before it\n" + strings.Join(part, "\n") + "\n\nafter it\n"
			got, n, _ := redact.New(nil).Mask(text)
			if n != 1 || strings.Contains(got, part[2]) || strings.Count(got, "\n") != strings.Count(text, "\n") {
				t.Errorf("%d masked: %q", n, got)
			}
			if !strings.HasPrefix(got, "before it\n[masked: private-key]") || !strings.HasSuffix(got, "after it\n") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestMaskIsStable throws pieces of secrets and of code together.
func TestMaskIsStable(t *testing.T) {
	t.Parallel()
	r := redact.New([]string{"0123456789abcdef"})
	pieces := []string{"\n", " ", `"`, "key", "token=", "password: ", "-----BEGIN " + "PRIVATE KEY-----", "-----END ", "PRIVATE KEY-----", "[masked: ", "]", "0123456789abcdef", "curl -H ", "Bearer ", "://a:", "@b"}
	for _, s := range secrets {
		pieces = append(pieces, s.before, s.secret, s.after)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		once, _, _ := r.Mask(text)
		twice, n, kinds := r.Mask(once)
		if twice != once {
			t.Fatalf("%d more masked (%v)\nonce  %q\ntwice %q", n, kinds, once, twice)
		}
		if strings.Count(once, "\n") != strings.Count(text, "\n") {
			t.Fatalf("line count changed: %q", once)
		}
	})
}

func FuzzMask(f *testing.F) {
	for _, s := range secrets {
		f.Add(s.before + s.secret + s.after)
	}
	r := redact.New([]string{"0123456789abcdef"})
	f.Fuzz(func(t *testing.T, text string) {
		got, _, _ := r.Mask(text)
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("line count changed: %q", got)
		}
		if strings.Contains(got, "0123456789abcdef") {
			t.Fatalf("own key left: %q", got)
		}
		if again, _, _ := r.Mask(got); again != got {
			t.Fatalf("once %q, twice %q", got, again)
		}
	})
}

// goSource is a megabyte of ordinary Go from the standard library.
func goSource(tb testing.TB) string {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skip("no go command here")
	}
	var b strings.Builder
	for _, dir := range []string{"net/http", "go/types", "crypto/tls", "encoding/json"} {
		names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", dir, "*.go"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			b.Write(raw)
			if b.Len() > 1<<20 {
				return b.String()[:1<<20]
			}
		}
	}
	tb.Skipf("no Go sources here (%d bytes)", b.Len())
	return ""
}

func TestMaskGoSource(t *testing.T) {
	t.Parallel()
	src := goSource(t)
	got, n, kinds := redact.New(nil).Mask(src)
	if n > 3 {
		t.Errorf("%d false alarms (%v) in a megabyte of the standard library", n, kinds)
		old := strings.Split(src, "\n")
		for i, line := range strings.Split(got, "\n") {
			if line != old[i] {
				t.Log(old[i])
			}
		}
	}
}

func BenchmarkMask(b *testing.B) {
	r := redact.New([]string{"sk-" + letters(alnum, 40)})
	texts := map[string]string{"go": goSource(b), "prose": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<20/45)}
	var all strings.Builder
	all.WriteString(texts["go"])
	for _, s := range secrets {
		all.WriteString(s.before + s.secret + s.after)
	}
	texts["secrets"] = all.String()
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			r.Mask(text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Mask(text)
			}
		})
	}
}

func ExampleRedactor_Mask() {
	r := redact.New(nil)
	masked, count, kinds := r.Mask("GITHUB_TOKEN=" + "ghp_" + letters(alnum, 36))
	fmt.Println(masked, count, kinds)
	// Output: GITHUB_TOKEN=[masked: github-pat] 1 [github-pat]
}
