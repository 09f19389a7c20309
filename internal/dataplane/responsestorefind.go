package dataplane

import (
	"bytes"
	"context"

	"sluice/internal/dialect/responses"
	"sluice/internal/fault"
	"sluice/internal/splice"
)

// itemReference is the type of an item that stands for one that was kept:
// {"type":"item_reference","id":"fc_0193f3a04c1e7b6f9d2a0c6d2"}. Libraries send them in place of
// what the model said before, as long as they were not told that nothing is stored.
// Source: https://platform.openai.com/docs/api-reference/responses/create, read 2026-11.
const itemReference = "item_reference"

// refers reports whether there may be a reference in a text.
func refers(text []byte) bool { return bytes.Contains(text, []byte(itemReference)) }

// hasReferences reports whether a list of items has one that stands for another: by its type, or
// without one as {"id":"msg_1"}.
func hasReferences(items []byte) bool {
	for item := range splice.Elements(items) {
		kind, typed := splice.Find(item, "type")
		switch {
		case typed && !splice.IsNull(kind):
			if splice.IsName(kind, itemReference) {
				return true
			}
		case splice.Text(item, "id") != "":
			if _, message := splice.Find(item, "content"); !message {
				return true
			}
		}
	}
	return false
}

// maxReferences is to how many responses the items of one call may refer.
const maxReferences = 256

// finder puts what the gateway keeps into one call. Plain leaves out what only the provider
// that said it understands.
type finder struct {
	responseStore *ResponseStore
	workspace     string
	plain         bool
	goesOn        bool
	before        []byte // what was said before, as items with their commas
	known         map[string]exchanged
}

// exchanged is a response that is kept: both are lists of items.
type exchanged struct{ input, output []byte }

// goOn begins the call with what was said until a response was made and in it.
// Fault.InvalidParameter when there is none of that id.
func (f *finder) goOn(ctx context.Context, id string) error {
	if f.responseStore == nil || !responses.IsID(id) {
		return unknownResponse(id)
	}
	was, err := f.response(ctx, id)
	if fault.Has(err, fault.NotFound) {
		return unknownResponse(id)
	}
	f.goesOn, f.before = true, appendContextItems(appendContextItems(nil, was.input, f.plain), was.output, f.plain)
	return err
}

func unknownResponse(id string) error {
	return fault.Newf(fault.InvalidParameter, "unknown response %q in this workspace, or it is not stored; send the complete conversation in input", clip(id)).WithParam("previous_response_id")
}

func (f *finder) response(ctx context.Context, id string) (exchanged, error) {
	input, response, err := f.responseStore.find(ctx, f.workspace, id)
	output, _ := splice.Find(response, "output")
	return exchanged{input, output}, err
}

// edits put what goes before the call there, and what its items refer to in their place. An
// input that is no list stays as it is, for the codec to refuse.
func (f *finder) edits(ctx context.Context, d *splice.Doc) ([]splice.Edit, error) {
	var edits []splice.Edit
	if f.goesOn {
		edits = append(edits, splice.Drop("previous_response_id"))
	}
	input, ok := d.Raw("input")
	if input = asItems(input); ok && input[0] != '[' && string(input) != "null" {
		return edits, nil
	}
	list := append([]byte{'['}, f.before...)
	for item := range splice.Elements(input) {
		referred, err := f.referred(ctx, item)
		switch {
		case err != nil:
			return nil, err
		case referred != nil:
			list = appendContextItems(list, append(append([]byte{'['}, referred...), ']'), f.plain)
		default:
			list = appendItem(list, item)
		}
	}
	return append(edits, splice.Set("input", append(list, ']'))), nil
}

// referred is what an item refers to; nil when it is no reference, or one to something that
// the gateway does not keep: that is for the provider or the codec to judge.
func (f *finder) referred(ctx context.Context, item []byte) ([]byte, error) {
	if f.responseStore == nil || splice.Text(item, "type") != itemReference {
		return nil, nil
	}
	id := splice.Text(item, "id")
	response, isLocal := responses.Whose(id)
	if !isLocal {
		return nil, nil
	}
	was, known := f.known[response]
	if !known {
		if len(f.known) == maxReferences {
			return nil, fault.Newf(fault.InvalidParameter, "the items refer to more than %d responses; send the items themselves", maxReferences).WithParam("input")
		}
		var err error
		if was, err = f.response(ctx, response); err != nil && !fault.Has(err, fault.NotFound) {
			return nil, err
		}
		if f.known == nil {
			f.known = make(map[string]exchanged)
		}
		f.known[response] = was
	}
	for _, list := range [...][]byte{was.output, was.input} {
		for found := range splice.Elements(list) {
			if splice.Text(found, "id") == id {
				return found, nil
			}
		}
	}
	return nil, nil
}
