package dataplane

import (
	"bytes"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/responses"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// conversation is the stored context of one POST /responses call, and whether its response is
// stored. It belongs to the goroutine of its request. It is nil for any other call.
type conversation struct {
	responseStore *ResponseStore
	workspace     string
	body          []byte // of the call, with the earlier items in its input
	previous      string // previous_response_id
	store         bool   // the response must be stored
	unkept        bool   // the caller requests storage, but the response is not stored
}

// begin resolves the stored responses that a call refers to. It inserts the items of
// previous_response_id before the input, and replaces item references with the items. The error
// is fault.InvalidParameter when the workspace does not have such a response.
func (k *ResponseStore) begin(ctx context.Context, workspace string, body []byte) (*conversation, error) {
	c := &conversation{responseStore: k, workspace: workspace, body: body}
	store, _ := splice.Find(body, "store")
	if shouldStore := string(store) != "false"; shouldStore && k != nil {
		c.store = workspace != "" && k.ready()
		c.unkept = !c.store
	}
	previous, _ := splice.Find(body, "previous_response_id")
	goesOn := len(previous) > 0 && string(previous) != "null"
	if !goesOn && !refers(body) {
		return c, nil
	}
	d := newDoc()
	defer docs.Put(d)
	if err := splice.Scan(body, d); err != nil {
		return nil, fault.From(err)
	}
	f := finder{responseStore: k, workspace: workspace}
	if goesOn {
		c.previous, _ = splice.Unquote(previous)
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

// edits returns the edits that let a provider with its own responses serve a call that continues
// from a response of the gateway, or refers to its items. It returns none for any other call.
func (k *ResponseStore) edits(ctx context.Context, workspace string, ep llm.Endpoint, d *splice.Doc) ([]splice.Edit, error) {
	if k == nil || ep != llm.CreateModelResponse && ep != llm.CountResponseInputTokens {
		return nil, nil
	}
	id, _ := d.String("previous_response_id")
	input, _ := d.Raw("input")
	f := finder{responseStore: k, workspace: workspace, plain: true}
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

// answering sets the storage fields of the response for its encoder.
func (c *conversation) answering(a *dialect.ResponseContext) {
	if c != nil {
		a.Store, a.Previous = c.store, c.previous
	}
}

// header adds the header that reports that a response is not stored although it should be.
func (c *conversation) header(h wire.Header) wire.Header {
	if c != nil && c.unkept {
		h = append(h, wire.Field{Name: prefix + "response-stored", Value: "false"})
	}
	return h
}

// saveResponse stores a buffered response. It returns the response to send, with store set to
// false when storing failed.
func (c *conversation) saveResponse(body []byte) []byte {
	if c == nil || !c.store || c.take(body) {
		return body
	}
	d := newDoc()
	defer docs.Put(d)
	if splice.Scan(body, d) != nil { // dialects write JSON: cannot happen
		return body
	}
	return d.Apply([]splice.Edit{splice.Set("store", []byte("false"))})
}

// saveStream stores the result of a completed stream. It runs before the last event is sent, so
// that the caller can continue from the response immediately.
func (c *conversation) saveStream(enc dialect.EventEncoder) {
	if c == nil || !c.store {
		return
	}
	if e, ok := enc.(interface{ Response() []byte }); ok && e.Response() != nil {
		c.take(e.Response())
		c.store = false // a stream ends once
	}
}

// take stores a response and reports whether that succeeded.
func (c *conversation) take(response []byte) bool {
	id, _ := splice.Find(response, "id")
	name, _ := splice.Unquote(id)
	input, _ := splice.Find(c.body, "input")
	err := c.responseStore.save(c.workspace, name, listed(asItems(input), name), bytes.Clone(response))
	if err != nil {
		c.store, c.unkept = false, true
		c.responseStore.log.Warn("the response is not stored", "response", name, "error", err.Error())
	}
	return err == nil
}
