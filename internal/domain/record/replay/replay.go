// Package replay works out what a logged request is when it is sent again, and how the
// two answers differ.
package replay

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/sealed"
)

// Change is what is to be different. Empty fields stay as they were.
type Change struct {
	Model    string // "gpt-4o", or "@openai-main/gpt-4o"
	Provider string // "@openai-main"
	Config   string // slug or id of a saved config, or a config itself
	Prompt   string // of a run of a saved prompt: which one is run, "support@4"
}

// Call is a request to be sent again. It is never streamed.
type Call struct {
	AttemptID string // id of the attempt that it repeats
	Method    string // "POST"
	Path      string // "/v1/chat/completions"
	Body      []byte
	Provider  string // for x-gateway-provider; empty for none
	Config    string // for x-gateway-config; empty for none
	Metadata  map[string]string
}

// Outcome is what came of a Call.
type Outcome struct {
	Status int
	Type   string // content type of the answer
	Body   []byte
	Cut    bool           // there was more of it than is looked at
	Record record.Attempt // of the last attempt, without the bytes of its bodies
}

// repeatable are the endpoints whose calls stand by themselves: nothing but the body is
// needed to make them again, and nothing lasting comes of it.
var repeatable = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true, llm.Rerank: true, llm.Moderate: true,
}

// NewCall makes the call that repeats an attempt with changes. It refuses with
// fault.InvalidRequest what cannot be repeated, and with fault.InvalidParameter a change
// that does not fit.
func NewCall(a *record.Attempt, c Change) (*Call, error) {
	if !a.Source.Served() || !repeatable[a.Endpoint] {
		return nil, fault.Newf(fault.InvalidRequest, "only chat, completion, message, response, embedding, rerank and moderation calls that this gateway served support replay, not %q", cmp.Or(string(a.Endpoint), string(a.Source)))
	}
	call := &Call{AttemptID: a.ID, Method: a.Method, Path: a.Path, Metadata: a.Metadata}
	if err := call.readBody(a, c); err != nil {
		return nil, err
	}
	if err := call.run(a, c.Prompt); err != nil {
		return nil, err
	}
	return call, call.route(a, c)
}

// readBody takes the client's own request, as a call that is not streamed.
func (call *Call) readBody(a *record.Attempt, c Change) error {
	sent := &a.Request
	if a.ClientRequest.Other() {
		sent = &a.ClientRequest
	}
	switch {
	case len(sent.Bytes) == 0:
		return fault.New(fault.InvalidRequest, "cannot replay the request: its body is not stored, no longer stored, or stored on another node")
	case sent.Truncated:
		return fault.Newf(fault.InvalidRequest, "cannot replay the request: only %d of its %d bytes are stored (LOG_BODY_MAX_KB)", len(sent.Bytes), sent.Size)
	}
	var d jsonedit.Doc
	if err := jsonedit.Scan(sent.Bytes, &d); err != nil {
		return fault.New(fault.InvalidRequest, "cannot replay the request: its body is not a JSON object").WithCause(err)
	}
	if field := sealed.Masked(sent.Bytes); field != "" {
		return fault.Newf(fault.InvalidRequest, "cannot replay the request: the credential in %s is masked in the log; send the request itself with the credential", field)
	}
	var edits []jsonedit.Edit
	if stream, _ := d.Bool("stream"); stream {
		edits = append(edits, jsonedit.Set("stream", []byte("false")), jsonedit.Drop("stream_options"))
	}
	if c.Model != "" {
		edits = append(edits, jsonedit.Set("model", jsonedit.Quote(c.Model)))
	}
	call.Body = sent.Bytes
	if len(edits) > 0 {
		call.Body = d.Apply(edits)
	}
	return nil
}

// runs is where saved prompts are run.
const runs = "/v1/prompts/"

// run chooses the prompt.
func (call *Call) run(a *record.Attempt, name string) error {
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(a.Path, runs) {
		return fault.New(fault.InvalidParameter, "the request did not use a saved prompt").WithParam("prompt")
	}
	call.Path = runs + url.PathEscape(name) + "/completions"
	return nil
}

// route finds out by which config or provider the call goes: that of the change, else as
// the request went, as far as that is saved.
func (call *Call) route(a *record.Attempt, c Change) error {
	model := jsonedit.Text(call.Body, "model")
	switch {
	case c.Config != "" && c.Provider != "":
		return fault.New(fault.InvalidParameter, "must not be set together with config").WithParam("provider")
	case c.Config != "":
		call.Config = c.Config
	case c.Provider != "":
		call.Provider = c.Provider
	case strings.HasPrefix(c.Model, "@"):
	case a.ConfigID == "inline":
		return fault.New(fault.InvalidParameter, "the request used an inline config, which is not stored; set config or provider").WithParam("config")
	case a.ConfigID != "":
		call.Config = a.ConfigID
	case strings.HasPrefix(model, "@"):
	case a.ProviderID != "":
		call.Provider = "@" + a.ProviderID
	default:
		return fault.New(fault.InvalidParameter, "the request used its own credentials, which are not stored; set provider or config").WithParam("provider")
	}
	return nil
}

// Headers are the lines that the call is sent with, without the caller's key.
func (call *Call) Headers() (lines [][2]string) {
	lines = append(lines, [2]string{"content-type", "application/json"})
	if call.Provider != "" {
		lines = append(lines, [2]string{"x-gateway-provider", call.Provider})
	}
	if call.Config != "" {
		lines = append(lines, [2]string{"x-gateway-config", call.Config})
	}
	if len(call.Metadata) > 0 {
		if b, err := json.Marshal(call.Metadata); err == nil { // texts: cannot fail
			lines = append(lines, [2]string{"x-gateway-metadata", string(b)})
		}
	}
	return lines
}
