package responsestore

import (
	"bytes"
	"context"

	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// itemReference is the type of an item that refers to a stored item:
// {"type":"item_reference","id":"fc_0193f3a04c1e7b6f9d2a0c6d2"}. Libraries send it in place of
// earlier output of the model, unless a response reported that it was not stored.
// Source: https://platform.openai.com/docs/api-reference/responses/create, read 2026-11.
const itemReference = responses.ItemReference

// refers reports whether a text may contain a reference.
func refers(text []byte) bool { return bytes.Contains(text, []byte(itemReference)) }

// maxReferences is the maximum number of responses that the items of one call may refer to.
const maxReferences = 256

// finder inserts stored items into one call. plain omits what only the provider that created an
// item can read.
type finder struct {
	store     *Store
	workspace string
	plain     bool
	goesOn    bool
	before    []byte // earlier items, separated by commas
	known     map[string]storedResponse
}

// storedResponse is a stored response: two lists of items.
type storedResponse struct{ input, output []byte }

// goOn makes the call continue from a response, with the items before it and in it. The error is
// fault.InvalidParameter when the response is unknown.
func (f *finder) goOn(ctx context.Context, id string) error {
	if f.store == nil || !responses.IsID(id) {
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
	return fault.Newf(fault.InvalidParameter, "unknown response %q in this workspace, or it is not stored; send the complete conversation in input", fault.Clip(id)).WithParam("previous_response_id")
}

func (f *finder) response(ctx context.Context, id string) (storedResponse, error) {
	input, response, err := f.store.find(ctx, f.workspace, id)
	output, _ := jsonedit.Find(response, "output")
	return storedResponse{input, output}, err
}

// edits returns the edits that insert the earlier items and replace references with their items.
// An input that is not a list is unchanged; the codec refuses it.
func (f *finder) edits(ctx context.Context, d *jsonedit.Doc) ([]jsonedit.Edit, error) {
	var edits []jsonedit.Edit
	if f.goesOn {
		edits = append(edits, jsonedit.Drop("previous_response_id"))
	}
	input, ok := d.Raw("input")
	if input = asItems(input); ok && input[0] != '[' && string(input) != "null" {
		return edits, nil
	}
	list := append([]byte{'['}, f.before...)
	for item := range jsonedit.Elements(input) {
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
	return append(edits, jsonedit.Set("input", append(list, ']'))), nil
}

// referred returns the item that a reference refers to. It returns nil for any other item, and
// for a reference that the gateway does not store. The provider or the codec checks those.
func (f *finder) referred(ctx context.Context, item []byte) ([]byte, error) {
	if f.store == nil || jsonedit.Text(item, "type") != itemReference {
		return nil, nil
	}
	id := jsonedit.Text(item, "id")
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
			f.known = make(map[string]storedResponse)
		}
		f.known[response] = was
	}
	for _, list := range [...][]byte{was.output, was.input} {
		for found := range jsonedit.Elements(list) {
			if jsonedit.Text(found, "id") == id {
				return found, nil
			}
		}
	}
	return nil, nil
}
