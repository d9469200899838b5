// Package redact keeps secrets from being sent: [KeyFile] knows files that are
// secrets as a whole, a [Redactor] masks the values in other texts that look
// like credentials.
//
//	r := redact.New([]string{os.Getenv("OPENAI_API_KEY")})
//	masked, count, kinds := r.Mask(text)
//
// The rules are those of gitleaks, taken over by redact/gen (see NOTICE.md), and
// a few in extra.json for keys that gitleaks does not know. A rule is a regular
// expression with keywords, of which one must be near, a threshold of entropy,
// and lists of what is no secret after all.
package redact
