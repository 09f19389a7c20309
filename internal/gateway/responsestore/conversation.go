package responsestore

import (
	"bytes"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Conversation is the stored context of one POST /responses call, and whether its response is
// stored. It belongs to the goroutine of its request. Other calls have a nil Conversation, which is
// valid and stores nothing.
type Conversation struct {
	target    *Store
	workspace string
	body      []byte // of the call, with the earlier items in its input
	previous  string // previous_response_id
	store     bool   // the response must be stored
	rejected  bool   // the caller requests storage, but the response is not stored
	staging   bool   // guardrails judge the response before it is stored
	waiting   []byte // the response that they judge; nil without one
}

// Begin resolves the stored responses that a call refers to. It inserts the items of
// previous_response_id before the input, and replaces item references with the items. The error
// is fault.InvalidParameter when the workspace does not have such a response.
func (s *Store) Begin(ctx context.Context, workspace string, body []byte) (*Conversation, error) {
	c := &Conversation{target: s, workspace: workspace, body: body}
	store, _ := jsonedit.Find(body, "store")
	if shouldStore := string(store) != "false"; shouldStore && s != nil {
		c.store = workspace != "" && s.ready()
		c.rejected = !c.store
	}
	previous, _ := jsonedit.Find(body, "previous_response_id")
	goesOn := len(previous) > 0 && string(previous) != "null"
	if !goesOn && !refers(body) {
		return c, nil
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if err := jsonedit.Scan(body, d); err != nil {
		return nil, fault.From(err)
	}
	f := finder{store: s, workspace: workspace}
	if goesOn {
		c.previous, _ = jsonedit.Unquote(previous)
		if err := f.goOn(ctx, c.previous); err != nil {
			return nil, err
		}
	}
	edits, err := f.edits(ctx, d)
	if err != nil {
		return nil, err
	}
	c.body = d.Apply(edits)
	return c, nil
}

// Edits returns the edits that let a provider with its own responses serve a call that continues
// from a response of the gateway, or refers to its items. It returns none for any other call.
func (s *Store) Edits(ctx context.Context, workspace string, ep llm.Endpoint, d *jsonedit.Doc) ([]jsonedit.Edit, error) {
	if s == nil || ep != llm.CreateModelResponse && ep != llm.CountResponseInputTokens {
		return nil, nil
	}
	id, _ := d.String("previous_response_id")
	input, _ := d.Raw("input")
	f := finder{store: s, workspace: workspace, plain: true}
	switch {
	case responses.IsID(id):
		if err := f.goOn(ctx, id); err != nil {
			return nil, err
		}
	case !refers(input):
		return nil, nil
	}
	return f.edits(ctx, d)
}

// Body returns the body of the call, with the earlier items in its input. The caller must not
// change it. c must not be nil.
func (c *Conversation) Body() []byte { return c.body }

// SetContext sets the storage fields of the response for its encoder.
func (c *Conversation) SetContext(a *dialect.ResponseContext) {
	if c != nil {
		a.Store, a.Previous = c.store, c.previous
	}
}

// AppendHeader adds the header x-gateway-response-stored, which reports that a response is not stored although it should be.
func (c *Conversation) AppendHeader(h wire.Header) wire.Header {
	if c != nil && c.rejected {
		h = append(h, wire.Field{Name: "x-gateway-response-stored", Value: "false"})
	}
	return h
}

// SaveResponse stores a buffered response. It returns the response to send, with store set to
// false when storing failed.
func (c *Conversation) SaveResponse(body []byte) []byte {
	if c == nil || !c.store || c.take(body) {
		return body
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(body, d) != nil { // dialects write JSON: cannot happen
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("store", []byte("false"))})
}

// SaveStream stores the result of a completed stream. It runs before the last event is sent, so
// that the caller can continue from the response immediately.
func (c *Conversation) SaveStream(enc dialect.EventEncoder) {
	if c == nil || !c.store {
		return
	}
	if e, ok := enc.(interface{ Response() []byte }); ok && e.Response() != nil {
		c.take(e.Response())
		c.store = false // a stream ends once
	}
}

// take stores a response and reports whether that succeeded.
func (c *Conversation) take(response []byte) bool {
	if c.staging {
		c.waiting = bytes.Clone(response)
		return true
	}
	id, _ := jsonedit.Find(response, "id")
	name, _ := jsonedit.Unquote(id)
	input, _ := jsonedit.Find(c.body, "input")
	err := c.target.save(c.workspace, name, listed(asItems(input), name), bytes.Clone(response))
	if err != nil {
		c.store, c.rejected = false, true
		c.target.log.Warn("the response is not stored", "response", name, "error", err.Error())
	}
	return err == nil
}
