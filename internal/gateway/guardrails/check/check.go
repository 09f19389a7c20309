// Package check contains the checks that run inside the gateway. Each file has one check or a family
// of checks: its row in the table (id, phases, parameters) and the code that runs it. list.go lists
// the rows. Start reading at Check and Runner; regexmatch.go is the reference check.
package check

import (
	"context"
	"encoding/json"

	"sluice/internal/domain/guardrail"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Check is a check that guardrails may name.
type Check struct {
	guardrail.Definition
	// New compiles the parameters of one use of the check. They have passed Definition.Params. The
	// error describes a problem that the forms of the parameters cannot show, such as the same entry in
	// an allow list and a block list; it is shown to the author of the guardrail.
	New func(p Params, d *Deps) (Runner, error)
	// Textless reports whether the check does not read texts: it judges models, metadata, parameters
	// or tokens. It runs where the text of a call cannot be read.
	Textless bool
}

// Runner judges texts with compiled parameters. It is safe for concurrent use.
type Runner interface {
	// Run judges one request or response. It returns when ctx ends at the latest.
	Run(ctx context.Context, in *Input) Result
}

// Redactor is a Runner that finds places in texts and can replace them. Its input has the texts of
// all messages, whatever the scope of its hook, because clients send earlier turns again.
type Redactor interface {
	Runner
	// Redacts reports whether the parameters request replacement.
	Redacts() bool
}

// Rewriter is a Runner that may replace the body as a whole: it adds messages, or inlines images. The
// rewriters of a hook run one after the other, before its other checks.
type Rewriter interface {
	Runner
	// Rewrites reports whether the parameters permit a new body.
	Rewrites() bool
}

// Windowed is a Runner that can judge a text while it arrives.
type Windowed interface {
	Runner
	// Window is the number of characters that the check needs on each side of a place to judge it: no
	// finding is longer, and its judgement does not depend on text further away. Zero means that it
	// needs the whole text.
	Window() int
}

// Priced is a Runner whose runs have a known price.
type Priced interface {
	Runner
	// Price returns what a run on the input costs at most, in nano-dollars.
	Price(in *Input) int64
}

// Input is what a check judges. Checks must not change it.
type Input struct {
	Phase guardrail.Phase
	// Texts are the texts in scope, in their order: one for each content part, tool argument or tool
	// result. An image has none.
	Texts     []string
	Body      []byte       // JSON of the request (input) or of the response (output); nil if it is not JSON
	Request   []byte       // JSON of the request, in both phases; nil if it is not JSON
	Status    int          // of the response; 0 in the input phase
	Endpoint  llm.Endpoint // llm.ChatComplete
	Provider  string       // "openai"
	Model     string       // as the request names it: "gpt-4o-mini"; empty if it names none
	Metadata  map[string]string
	Header    wire.Header // of the client's request; credentials included: forward only what param.MayForward permits
	TraceID   string
	Streaming bool // the client requested a stream
	ToolCalls bool // the response has tool calls
	// Transformed reports whether an earlier check of the phase changed the body.
	Transformed bool

	shared *sharedTexts // nil without Share
}

// Text returns the texts in scope, joined by newlines.
func (in *Input) Text() string {
	if in.shared != nil {
		return in.shared.text()
	}
	return in.join()
}

func (in *Input) join() string {
	switch len(in.Texts) {
	case 0:
		return ""
	case 1:
		return in.Texts[0]
	}
	n := len(in.Texts) - 1
	for _, s := range in.Texts {
		n += len(s)
	}
	b := make([]byte, 0, n)
	for i, s := range in.Texts {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, s...)
	}
	return string(b)
}

// Result is the judgement of a check.
type Result struct {
	Verdict bool // true passes
	// Error is set when the check could not judge, or its service failed. Verdict is ignored then
	// unless ErrorDecides is set: failOnError and the guardrail decide.
	Error *Error
	// ErrorDecides keeps Verdict although Error is set. Source: contract/dataplane.md 5.6 and 5.8
	// ("open" and "closed").
	ErrorDecides bool
	// Data is shown as JSON in hook_results; nil for none. It may quote the judged text: ordinary
	// callers do not receive it after a denial.
	Data any
	// Log is for the log only: what was sent to a service, without credentials.
	Log any
	// Edits replace parts of Texts. They may not overlap.
	Edits []Edit
	// Body replaces the body as a whole; nil keeps it. Only a Rewriter returns one.
	Body []byte
	// Headers are header fields of later checks and of the upstream request, such as claims of a token.
	Headers wire.Header
	// CostNano is what the run cost, in nano-dollars; 0 for none.
	CostNano int64
	// Unpaid is the error of a limit because of which the check did not run; nil for others. Error is
	// set too.
	Unpaid error
}

// Edit replaces a part of a text.
type Edit struct {
	Text       int // position in Input.Texts
	Start, End int // byte offsets in that text
	With       string
	Kind       string // what was found: "EMAIL_ADDRESS"; the stem of a reversible placeholder
}

// Error is a failure of a check, as hook_results show it.
type Error struct {
	Name    string `json:"name"`    // "TimeoutError", "HttpError", "Check error"
	Message string `json:"message"` // what happened and how to fix it; no credentials, no judged text
}

// Pass and Fail are results without more to show.
var (
	Pass = Result{Verdict: true}
	Fail = Result{}
)

// Failed returns the result of a check that could not judge.
func Failed(name, message string) Result { return Result{Error: &Error{name, message}} }

// Params are the parameters of one use of a check: a JSON object. Its methods return the default for
// an absent parameter.
type Params map[string]any

// ReadParams decodes a JSON object; empty means no parameters.
func ReadParams(raw json.RawMessage) (Params, error) {
	p := Params{}
	if len(raw) == 0 {
		return p, nil
	}
	err := json.Unmarshal(raw, &p)
	return p, err
}

// Text returns a string.
func (p Params) Text(name, otherwise string) string {
	if s, ok := p[name].(string); ok {
		return s
	}
	return otherwise
}

// Number returns a number.
func (p Params) Number(name string, otherwise float64) float64 {
	if n, ok := p[name].(float64); ok {
		return n
	}
	return otherwise
}

// Bool returns true or false.
func (p Params) Bool(name string, otherwise bool) bool {
	if b, ok := p[name].(bool); ok {
		return b
	}
	return otherwise
}

// List returns a list of strings. A single string becomes a list of one.
func (p Params) List(name string) []string {
	switch v := p[name].(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, 0, len(v))
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// Object returns an object, nil without one.
func (p Params) Object(name string) map[string]any {
	m, _ := p[name].(map[string]any)
	return m
}
