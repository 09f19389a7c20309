// Package scripted has providers that speak other shapes than OpenAI's: a script of
// internal/test/upstream for each, whose answers repeat the question as those of internal/ops/demo
// do, so that one set of expectations holds for providers of every shape. They are as
// strict as the real ones in what translations get wrong: roles that do not alternate,
// results of tools that nobody called, thoughts whose signature was changed.
//
//	up := upstream.Start(t)
//	up.Script(scripted.Anthropic)
//
// The model "fault:status@429" is answered with that status.
package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// question is what a request asks, whatever its shape.
type question struct {
	model      string
	userText   string   // the last words of the user
	results    []string // of tools, when they came last
	tools      []tool
	schema     map[string]any // of the answer, nil for text
	pictures   []string       // "image/png of 68 bytes"
	reasoning  bool           // thoughts are asked for
	remembered bool           // earlier thoughts came back with their signature
	words      int            // of all texts of the conversation
}

type tool struct {
	name   string
	schema map[string]any
}

// modelOutput is what is said to it: thoughts and a text, or calls of tools.
type modelOutput struct {
	reasoning string // "" for none
	text      string
	calls     []call
	words     int // of everything
}

type call struct {
	id, name string
	args     string // JSON
}

// refusal is an error in the making of an answer.
type refusal struct {
	status  int
	message string
}

func refuse(format string, args ...any) *refusal { return &refusal{400, fmt.Sprintf(format, args...)} }

// fault is the refusal that a model asks for by its name, nil for none.
func fault(model string) *refusal {
	var status int
	if n, err := fmt.Sscanf(model, "fault:status@%d", &status); n != 1 || err != nil {
		return nil
	}
	return &refusal{status, "An injected fault."}
}

// respond calls the tools that are named in what was said; else it repeats that, in the
// form that is asked for, or what the tools said.
func (q *question) respond() modelOutput {
	var a modelOutput
	if q.reasoning {
		a.reasoning = "The user says: " + q.userText
	}
	if len(q.results) == 0 {
		a.calls = q.calls()
	}
	switch {
	case len(a.calls) > 0:
	case q.schema != nil:
		a.text = sample(q.schema, q.userText)
	case len(q.results) > 0:
		a.text = "The tool said: " + q.results[len(q.results)-1]
	default:
		a.text = fmt.Sprintf("You said: %q", q.userText)
	}
	if len(a.calls) == 0 && q.schema == nil {
		for _, p := range q.pictures {
			a.text += " and showed " + p
		}
		a.text += "."
		if q.remembered {
			a.text += " I remember my thoughts."
		}
	}
	a.words = count(a.reasoning) + count(a.text)
	for _, c := range a.calls {
		a.words += 1 + count(c.args)
	}
	return a
}

func (q *question) calls() []call {
	var calls []call
	for _, t := range q.tools {
		if strings.Contains(q.userText, t.name) {
			calls = append(calls, call{fmt.Sprintf("toolu_%d_%d", q.words, len(calls)), t.name, sample(t.schema, q.userText)})
		}
	}
	return calls
}

// sample is an object of a schema: the text for strings, true for booleans.
func sample(schema map[string]any, text string) string {
	properties, _ := schema["properties"].(map[string]any)
	out := map[string]any{}
	for name, p := range properties {
		kind, _ := p.(map[string]any)["type"].(string)
		switch strings.ToLower(kind) {
		case "boolean":
			out[name] = true
		default:
			out[name] = text
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings and booleans
	}
	return string(b)
}

// sign is the signature of thoughts, which must come back with them.
func sign(reasoning string) string {
	sum := sha256.Sum256([]byte("scripted " + reasoning))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// checkImage describes an image, or why it is not one.
func checkImage(kind, data string) (string, *refusal) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		return "", refuse("the image is not base64")
	}
	return fmt.Sprintf("%s of %d bytes", kind, len(b)), nil
}

// count is what a text costs: its words.
func count(text string) int { return len(strings.Fields(text)) }

// textDeltas are what a stream delivers: a word each.
func textDeltas(text string) []string {
	return slices.DeleteFunc(strings.SplitAfter(text, " "), func(s string) bool { return s == "" })
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // literals
	}
	return string(b)
}
