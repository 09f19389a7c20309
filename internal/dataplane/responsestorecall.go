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

// conversation is what one call of POST /responses goes on from, and whether its
// answer is to be kept. It belongs to the goroutine of its request; a nil one is that
// of any other call.
type conversation struct {
	responseStore *ResponseStore
	workspace     string
	body          []byte // of the call, with what was said before in its input
	previous      string // previous_response_id
	store         bool   // the answer is to be kept
	unkept        bool   // the caller wants it to be, but it is not
}

// begin reads what a call says of responses kept by the gateway: it puts the items of
// previous_response_id before the input, and items in the place of references to them.
// Fault.InvalidParameter when there is no such response in the workspace.
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

// edits are what makes a call that goes on from a response of the gateway, or refers to
// items of one, such that a provider with responses of its own can serve it: none for any
// other call.
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

// answering tells the encoder of the answer what it says of being kept.
func (c *conversation) answering(a *dialect.ResponseContext) {
	if c != nil {
		a.Store, a.Previous = c.store, c.previous
	}
}

// header adds the line that says that an answer is not kept although it should be.
func (c *conversation) header(h wire.Header) wire.Header {
	if c != nil && c.unkept {
		h = append(h, wire.Field{Name: prefix + "response-stored", Value: "false"})
	}
	return h
}

// saveResponse keeps a whole answer. It returns the answer to give, which says when it is not
// kept.
func (c *conversation) saveResponse(body []byte) []byte {
	if c == nil || !c.store || c.take(body) {
		return body
	}
	d := newDoc()
	defer docs.Put(d)
	if splice.Scan(body, d) != nil { // what dialects write is JSON: cannot happen
		return body
	}
	return d.Apply([]splice.Edit{splice.Set("store", []byte("false"))})
}

// saveStream keeps what a stream has come to, when it has come to its end. It is called
// before the last event is given, so that the caller can go on from the answer at once.
func (c *conversation) saveStream(enc dialect.EventEncoder) {
	if c == nil || !c.store {
		return
	}
	if e, ok := enc.(interface{ Response() []byte }); ok && e.Response() != nil {
		c.take(e.Response())
		c.store = false // it ends once
	}
}

// take hands a response to the keeper and reports whether that worked.
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
