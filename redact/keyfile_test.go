package redact_test

import (
	"strings"
	"testing"

	"parley/redact"
)

func TestKeyFileByName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".env": true, "a/.env": true, ".ENV": true, ".env.local": true, ".env.production": true, "prod.env": true, ".env ": true, `C:\x\.env`: true, ".envrc": true,
		".env.example": false, ".env.sample": false, ".env.template": false, "environment.go": false, "env": false, "dotenv.py": false,
		"id_rsa": true, "/home/u/.ssh/id_rsa": true, "id_rsa_work": true, "id_ed25519": true, "id_rsa.pub": false, "id_ed25519.pub": false,
		".ssh/deploy": true, ".ssh/config": false, ".ssh/known_hosts": false, ".ssh/deploy.pub": false,
		"server.pem": true, "server.key": true, "a.p12": true, "a.PFX": true, "debug.keystore": true, "a.jks": true, "a.ppk": true, "a.crt": false,
		".npmrc": true, ".pypirc": true, ".netrc": true, ".git-credentials": true, ".aws/credentials": true, "x/.aws/credentials": true, "credentials": false,
		"kubeconfig": true, ".kube/config": true, "config": false, ".docker/config.json": true, "config.json": false, "terraform.tfstate": true,
		"terraform.tfstate.backup": true, "main.tf": false, "prod.tfvars": true, ".git/config": true, "key.go": false, "monkey": false, "keys.md": false,
		".gnupg/private-keys-v1.d/A.key": true, "keyboard.ts": false, "README.md": false, "": false,
	} {
		if got := redact.KeyFile(name, nil); got != want {
			t.Errorf("KeyFile(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestKeyFileByContent(t *testing.T) {
	t.Parallel()
	key := pemBlock("RSA "+"PRIVATE KEY", 4)
	cert := pemBlock("CERTIFICATE", 20)
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"pem":             {key, true},
		"pem with bom":    {"\xef\xbb\xbf" + key, true},
		"pem crlf":        {strings.ReplaceAll(key, "\n", "\r\n"), true},
		"pem after blank": {"\n\n# my key\n" + key, true},
		"bundle":          {cert + "\n" + cert + "\n" + key, true},
		"bag":             {"Bag Attributes\n    localKeyID: 01\n" + key, true},
		"openssh":         {pemBlock("OPENSSH "+"PRIVATE KEY", 2), true},
		"encrypted":       {pemBlock("ENCRYPTED "+"PRIVATE KEY", 2), true},
		"pgp":             {pemBlock("PGP "+"PRIVATE KEY BLOCK", 2), true},
		"ssh2":            {"---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----\n", true},
		"age":             {"# created: 2026-01-01\n# public key: age1x\nAGE-SECRET-" + "KEY-1QQQ\n", true},
		"putty":           {"PuTTY-User-" + "Key-File-3: ssh-ed25519\n", true},
		"kubeconfig":      {"apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: x\n", true},
		"service account": {`{"type": "service_account", "private_key": "-----BEGIN ` + `PRIVATE KEY-----\n"}`, true},
		"wireguard":       {"[Interface]\nPrivateKey = " + letters(alnum, 43) + "=\n", true},
		"certificate":     {cert, false},
		"public key":      {pemBlock("PUBLIC KEY", 2), false},
		"go test":         {"package x\n\nconst k = `\n" + key + "`\n", false},
		"manifest":        {"apiVersion: v1\nkind: ConfigMap\n", false},
		"prose":           {"How to spot -----BEGIN " + "PRIVATE KEY----- in a file\n", false},
		"empty":           {"", false},
	} {
		if got := redact.KeyFile("notes.txt", []byte(c.head)); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func FuzzKeyFile(f *testing.F) {
	f.Add("a/.env", []byte("A=1"))
	f.Fuzz(func(_ *testing.T, name string, head []byte) { redact.KeyFile(name, head) })
}
