// Package replay works out what a logged request is when it is sent again, and how the
// two answers differ.
package replay

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/record"
	"sluice/internal/sealed"
	"sluice/internal/splice"
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
		return nil, fault.Newf(fault.InvalidRequest, "only calls for chats, completions, messages, responses, embeddings, rerankings and moderations that this gateway served can be replayed, not one of %q", cmp.Or(string(a.Endpoint), string(a.Source)))
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
		return fault.New(fault.InvalidRequest, "the request cannot be replayed: its body was not kept, or is kept no longer, or not by this node")
	case sent.Truncated:
		return fault.Newf(fault.InvalidRequest, "the request cannot be replayed: only %d of its %d bytes were kept (LOG_BODY_MAX_KB)", len(sent.Bytes), sent.Size)
	}
	var d splice.Doc
	if err := splice.Scan(sent.Bytes, &d); err != nil {
		return fault.New(fault.InvalidRequest, "the request cannot be replayed: its body is no JSON object").WithCause(err)
	}
	if field := sealed.Masked(sent.Bytes); field != "" {
		return fault.Newf(fault.InvalidRequest, "the request cannot be replayed: the credential in %s is masked in the log; send the request itself with the credential", field)
	}
	var edits []splice.Edit
	if stream, _ := d.Bool("stream"); stream {
		edits = append(edits, splice.Set("stream", []byte("false")), splice.Drop("stream_options"))
	}
	if c.Model != "" {
		edits = append(edits, splice.Set("model", splice.Quote(c.Model)))
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
		return fault.New(fault.InvalidParameter, "the request ran no saved prompt").WithParam("prompt")
	}
	call.Path = runs + url.PathEscape(name) + "/completions"
	return nil
}

// route finds out by which config or provider the call goes: that of the change, else as
// the request went, as far as that is saved.
func (call *Call) route(a *record.Attempt, c Change) error {
	model := splice.Text(call.Body, "model")
	switch {
	case c.Config != "" && c.Provider != "":
		return fault.New(fault.InvalidParameter, "config and provider exclude each other").WithParam("provider")
	case c.Config != "":
		call.Config = c.Config
	case c.Provider != "":
		call.Provider = c.Provider
	case strings.HasPrefix(c.Model, "@"):
	case a.ConfigID == "inline":
		return fault.New(fault.InvalidParameter, "the request brought a config of its own, which is not kept; name a config, or a provider").WithParam("config")
	case a.ConfigID != "":
		call.Config = a.ConfigID
	case strings.HasPrefix(model, "@"):
	case a.ProviderID != "":
		call.Provider = "@" + a.ProviderID
	default:
		return fault.New(fault.InvalidParameter, "the request brought credentials of its own, which are not kept; name a provider, or a config").WithParam("provider")
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
