package redact

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// KeyFile tells whether a file is a secret as a whole, by its name or by what it
// begins with. The name may be a path with forward slashes; head may be nil when
// the file has not been opened yet, and 64 KB of it are enough.
func KeyFile(name string, head []byte) bool {
	return keyName(name) || keyHead(head)
}

// keyNames are files that hold keys whatever their folder.
var keyNames = map[string]bool{
	".env": true, ".envrc": true, ".flaskenv": true,
	".npmrc": true, ".pypirc": true, ".netrc": true, "_netrc": true, ".authinfo": true,
	".git-credentials": true, ".gitcookies": true, ".pgpass": true, "pgpass.conf": true, ".my.cnf": true, ".mylogin.cnf": true,
	".htpasswd": true, ".vault-token": true, ".vault_pass": true, ".dockercfg": true, ".s3cfg": true, ".boto": true,
	".terraformrc": true, "terraform.rc": true, ".rediscli_auth": true, ".kubeconfig": true, "kubeconfig": true,
	"id_rsa": true, "id_dsa": true, "id_ecdsa": true, "id_ed25519": true, "id_ecdsa_sk": true, "id_ed25519_sk": true,
	"master.key": true, "secring.gpg": true, "application_default_credentials.json": true, "accesstokens.json": true,
	"secrets.yml": true, "secrets.yaml": true, "secrets.json": true, "secrets.toml": true, "credentials.json": true, "client_secret.json": true,
	"krb5.keytab": true, "wallet.dat": true, "logins.json": true, "key4.db": true,
}

// keyEnds are what the names of key files end with.
var keyEnds = []string{
	".pem", ".key", ".p12", ".pfx", ".pkcs12", ".p8", ".jks", ".keystore", ".bks", ".ppk", ".keytab", ".kdb", ".kdbx", ".agekey",
	".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", ".ovpn", ".mobileprovision",
}

// keyPaths are files that hold keys in one folder and are ordinary elsewhere.
var keyPaths = []string{
	".aws/credentials", ".aws/config", ".docker/config.json", ".kube/config", ".git/config", ".config/gh/hosts.yml", ".config/hub",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".config/gcloud/credentials.db", ".config/gcloud/access_tokens.db", ".azure/accessTokens.json", ".azure/msal_token_cache.json",
	".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".config/rclone/rclone.conf", ".composer/auth.json",
	".bundle/config", ".config/op/config", ".terraform.d/credentials.tfrc.json", ".oci/config", ".databrickscfg", "etc/shadow", "etc/gshadow",
}

// keyFolders hold nothing but keys.
var keyFolders = []string{".gnupg/private-keys-v1.d/", ".password-store/", ".config/age/", ".config/sops/age/"}

// harmless are the endings of files that look like key files and are made to be
// shown.
var harmless = []string{".example", ".sample", ".template", ".dist", ".pub", ".tmpl", ".md", ".go", ".defaults"}

func keyName(name string) bool {
	full := strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	base := strings.TrimRight(path.Base(full), ". ") // Windows ignores them
	for _, end := range harmless {
		if strings.HasSuffix(base, end) {
			return false
		}
	}
	if keyNames[base] || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") ||
		strings.HasPrefix(base, "id_rsa") || strings.HasPrefix(base, "id_ed25519") || strings.HasPrefix(base, "id_ecdsa") || strings.HasPrefix(base, "id_dsa") ||
		strings.HasPrefix(base, "terraform.tfstate") {
		return true
	}
	for _, end := range keyEnds {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	for _, p := range keyPaths {
		if p = strings.ToLower(p); full == p || strings.HasSuffix(full, "/"+p) {
			return true
		}
	}
	for _, folder := range keyFolders {
		if strings.Contains("/"+full, "/"+folder) {
			return true
		}
	}
	return inSSH(full, base)
}

// inSSH tells whether a file lies in .ssh and is not one of those that hold no
// secret there.
func inSSH(full, base string) bool {
	if path.Base(path.Dir(full)) != ".ssh" {
		return false
	}
	switch base {
	case "config", "known_hosts", "authorized_keys", "allowed_signers":
		return false
	}
	return true
}

var (
	pemKey     = regexp.MustCompile(`(?m)^[ \t]*-{4,5} ?BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)? ?-{4,5}`)
	kubeSecret = regexp.MustCompile(`(?m)^[ \t-]*(?:client-key-data|token|password):[ \t]*\S`)
	gcpKey     = regexp.MustCompile(`"private_key"[ \t]*:[ \t]*"-----BEGIN`)
	wireguard  = regexp.MustCompile(`(?m)^[ \t]*PrivateKey[ \t]*=[ \t]*[A-Za-z0-9+/]{43}=`)
)

// keyHead looks at what a file begins with. A source file that holds a key
// somewhere is not a key file: there the value is masked.
func keyHead(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	first := firstLine(head)
	switch {
	case len(first) == 0:
		return false
	case hasAny(first, "AGE-SECRET-KEY-", "PuTTY-User-Key-File-", "-----BEGIN OPENSSH PRIVATE KEY", "untrusted comment: minisign encrypted secret key",
		"untrusted comment: signify secret key", "SSH PRIVATE KEY FILE FORMAT"):
		return true
	case hasAny(first, "-----BEGIN ", "---- BEGIN ", "Bag Attributes", "Certificate:", "Private-Key:", "RSA Private-Key:"):
		return pemKey.Match(head)
	case hasAny(first, "apiVersion:", "kind:", "clusters:", "current-context:", "contexts:", "users:"):
		return bytes.Contains(head, []byte("kind: Config")) && kubeSecret.Match(head)
	case hasAny(first, "{"):
		return bytes.Contains(head, []byte(`"service_account"`)) && gcpKey.Match(head)
	case hasAny(first, "[Interface]"):
		return wireguard.Match(head)
	}
	return false
}

// firstLine returns the first line that is neither empty nor a comment.
func firstLine(head []byte) []byte {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != ';' && !bytes.HasPrefix(line, []byte("//")) {
			return line
		}
		head = rest
	}
	return nil
}

func hasAny(line []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return false
}
