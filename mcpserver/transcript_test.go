package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/fakeai"
)

// TestTranscripts replays conversations against the real server. A transcript
// is a txtar file of "client" parts, whose lines are sent one by one, and
// "server" parts, what was answered to them. What differs between two runs is
// masked: the first thread is conv_1, and the client may call it so.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, parts := parseArchive(string(raw))
			b := setup(t)
			b.up.Script("", fakeai.Script{Usage: &fakeai.Usage{Input: 150, Output: 85}})
			b.up.Script("refused", fakeai.Script{Status: 401, Message: "Incorrect API key provided."})
			b.up.Script("cut", fakeai.Script{Text: "one two three", Chunks: 3, CutAfter: 2})
			replay := &transcript{client: b.lines(t), masks: map[string]string{}}
			var played strings.Builder
			played.WriteString(comment)
			for _, p := range parts {
				if p.name != "client" {
					continue
				}
				played.WriteString("-- client --\n" + p.data)
				if answers := replay.play(p.data); len(answers) > 0 {
					played.WriteString("-- server --\n" + string(answers))
				}
			}
			golden(t, file, []byte(played.String()))
		})
	}
}

type part struct{ name, data string }

// parseArchive reads a txtar file: a comment, and parts that begin with a line
// such as "-- client --".
func parseArchive(text string) (comment string, parts []part) {
	for line := range strings.Lines(text) {
		name, isHead := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		name, isTail := strings.CutSuffix(name, " --")
		switch {
		case isHead && isTail:
			parts = append(parts, part{name: name})
		case len(parts) == 0:
			comment += line
		default:
			parts[len(parts)-1].data += line
		}
	}
	return comment, parts
}

type transcript struct {
	client *lineClient
	masks  map[string]string // real id to its name here
}

// play sends lines and returns what came back, masked and readable.
func (p *transcript) play(lines string) []byte {
	var answers bytes.Buffer
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		for id, name := range p.masks {
			line = strings.ReplaceAll(line, name, id)
		}
		p.client.send(line)
		if expectsAnswer(line) {
			answers.Write(p.mask(p.client.read()))
		}
	}
	return answers.Bytes()
}

// expectsAnswer: everything but notifications and responses gets one.
func expectsAnswer(line string) bool {
	var one map[string]json.RawMessage
	var batch []map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &batch) == nil && len(batch) > 0 {
		for _, m := range batch {
			if m["id"] != nil {
				return true
			}
		}
		return false
	}
	if json.Unmarshal([]byte(line), &one) == nil {
		return one["id"] != nil && one["result"] == nil || one["method"] == nil
	}
	return strings.TrimSpace(line) != ""
}

var (
	ids     = regexp.MustCompile(`\b(conv|run)_[a-z2-7]{26}\b`)
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	spans   = regexp.MustCompile(`\| \d+\.\ds\b`)
	numbers = regexp.MustCompile(`"(ms|response_time_ms|elapsed_seconds)":[\d.]+`)
	// attempts that took no time leave it out.
	attempts = regexp.MustCompile(`,"ms":0`)
)

func (p *transcript) mask(line string) []byte {
	line = ids.ReplaceAllStringFunc(line, func(id string) string {
		if p.masks[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			n := 1
			for other := range p.masks {
				if strings.HasPrefix(other, kind) {
					n++
				}
			}
			p.masks[id] = fmt.Sprintf("%s_%d", kind, n)
		}
		return p.masks[id]
	})
	line = moments.ReplaceAllString(line, "TIME")
	line = spans.ReplaceAllString(line, "| 0.0s")
	line = numbers.ReplaceAllString(line, `"$1":0`)
	line = attempts.ReplaceAllString(line, "")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(line), "", "  "); err != nil {
		p.client.t.Fatalf("the server sent no JSON: %s", line)
	}
	pretty.WriteByte('\n')
	return pretty.Bytes()
}
