package guardrails

import (
	"errors"
	"maps"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Call is what the hooks of a call read, apart from its bodies.
type Call struct {
	Endpoint  llm.Endpoint
	Shape     string // name of the body's format for passage.RequestShape; empty for that of the endpoint
	Provider  string // "openai"
	Model     string
	Metadata  map[string]string
	Header    wire.Header // of the client's request
	TraceID   string
	Streaming bool
	Request   []byte // JSON of the request; nil if it is not JSON
	// PassUnreadable lets the call pass if an enforced guardrail cannot read its text.
	PassUnreadable bool
	// BeforePaid runs once before the first paid check, with the price of all of them as far as it is
	// known, in nano-dollars. Its error ends the run. Nil accepts.
	BeforePaid func(costNano int64) error
	// Memo keeps the results of paid hooks, so that retries and fallback targets do not pay again for
	// the same text; nil keeps none.
	Memo *Memo
	// Vault contains the values that reversible redaction hides. Without one they cannot be restored:
	// each is replaced as by an irreversible redaction.
	Vault *placeholder.Vault
}

func (c *Call) shape() string {
	if c.Shape != "" {
		return c.Shape
	}
	return string(c.Endpoint)
}

// content is a body that hooks judge and change.
type content struct {
	call     *Call
	phase    guardrail.Phase
	status   int
	body     []byte
	texts    *passage.Body // nil if the texts cannot be read
	edited   bool          // a hook changed the body
	headers  wire.Header
	unread   bool
	evades   bool // its format is known, but its texts cannot be read: it exceeds a bound
	hasCalls bool
	removed  removed // what redactions removed
	failed   bool    // a redaction could not be applied
}

// newContent reads the texts of a body.
func newContent(c *Call, p guardrail.Phase, status int, body []byte) *content {
	out := &content{call: c, phase: p, status: status, body: body}
	out.read()
	return out
}

func (c *content) read() {
	read := passage.RequestShape
	if c.phase == guardrail.Output {
		read = passage.ResponseShape
	}
	texts, err := read(c.call.shape(), c.body)
	c.texts, c.unread, c.edited = texts, err != nil, false
	c.evades = err != nil && c.call.Endpoint != llm.Proxy && !errors.Is(err, passage.ErrNoForm)
	if err != nil {
		c.texts = nil
		return
	}
	for _, p := range texts.Passages() {
		c.hasCalls = c.hasCalls || p.Kind == passage.Arguments && p.Role == passage.Assistant
	}
}

// input returns what a check judges, and the passage that each of its texts is. A check that redacts
// reads all texts. Only a check that searches reads the strings outside of the known members: others
// count and classify what people and models wrote.
func (c *content) input(scope string, all, searches bool) (*check.Input, []int) {
	in := &check.Input{
		Phase: c.phase, Body: c.body, Request: c.call.Request, Status: c.status, Endpoint: c.call.Endpoint, Provider: c.call.Provider,
		Model: c.call.Model, Metadata: c.call.Metadata, Header: c.call.Header, TraceID: c.call.TraceID, Streaming: c.call.Streaming, ToolCalls: c.hasCalls,
	}
	if c.phase == guardrail.Input {
		in.Request = c.body
	}
	in.Transformed = c.changed()
	if len(c.headers) > 0 {
		in.Header = c.call.Header.Clone(len(c.headers))
		for _, f := range c.headers {
			in.Header.Set(f.Name, f.Value)
		}
	}
	defer in.Share()
	if c.texts == nil {
		return in, nil
	}
	if all {
		scope = scopeAll
	} else if scope == "" {
		scope = scopeLastMessage
	}
	list := c.texts.Passages()
	positions := c.texts.Scope(scope)
	if !searches {
		positions = slices.DeleteFunc(positions, func(i int) bool { return list[i].Kind == passage.Other || list[i].Kind == passage.Tokens })
	}
	in.Texts = make([]string, len(positions))
	for i, at := range positions {
		in.Texts[i] = list[at].Text
	}
	return in, positions
}

// The values of the hook field "scope".
const (
	scopeAll         = "all"
	scopeLastMessage = "last_message"
)

// replaceBody replaces the body as a whole.
func (c *content) replaceBody(body []byte) {
	c.body = body
	c.read()
}

// edit replaces parts of texts. The texts are read again, so that the next check reads the new ones.
// A change outside the texts cannot be applied: the call fails.
func (c *content) edit(positions []int, texts []string, list []change) {
	if len(list) == 0 {
		return
	}
	byText := make(map[int][]change)
	for i := range list {
		if at := list[i].Text; c.texts == nil || at < 0 || at >= len(positions) || !list[i].fits(texts[at]) {
			c.failed = true
			continue
		}
		byText[list[i].Text] = append(byText[list[i].Text], list[i])
	}
	if c.texts == nil {
		return
	}
	for _, at := range slices.Sorted(maps.Keys(byText)) {
		c.texts.Replace(positions[at], c.redacted(positions[at], texts[at], byText[at]))
	}
	c.replaceBody(c.texts.Bytes())
}

// redacted returns a text after changes. Values in the response of a provider and in instructions for
// the model are not the caller's own: a user who asks for them must not receive them.
func (c *content) redacted(position int, text string, list []change) string {
	fromCaller := c.phase == guardrail.Input && c.texts.Passages()[position].Role != passage.System
	return apply(text, merged(text, list), func(e *change) string {
		with := e.replacement(c.call.Vault, fromCaller, text)
		c.removed.add(text[e.Start:e.End], with)
		return with
	})
}

// addHeaders sets header fields for later checks and the upstream request. A field replaces that of
// an earlier check and of the client.
func (c *content) addHeaders(h wire.Header) {
	for _, f := range h {
		c.headers.Set(f.Name, f.Value)
	}
}
