package sniff

import (
	"bytes"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// listMember is the list that every valid response of that endpoint must have, because clients
// iterate over it without checking its type. It is nil if clients make no such assumption.
func listMember(ep llm.Endpoint) []byte {
	switch ep {
	case llm.ChatComplete, llm.Complete:
		return []byte(`"choices"`)
	case llm.Messages:
		return []byte(`"content"`)
	case llm.CreateModelResponse:
		return []byte(`"output"`)
	case llm.Embed, llm.ImageGenerate, llm.ImageEdit:
		return []byte(`"data"`)
	default:
		return nil
	}
}

// CheckList rejects a successful JSON response that is a valid object but not a response of
// its endpoint, with fault.UpstreamInvalid, so that another target may be tried. Its list of
// choices, contents, outputs or data is missing or is not a list, as in an error sent with a
// success status. Wrong types in nested members are relayed. It first searches only for the
// name, so a nested list of that name is accepted too: valid responses must not be parsed
// twice.
func CheckList(ep llm.Endpoint, body []byte) error {
	key := listMember(ep)
	if key == nil {
		return nil
	}
	if jsonscan.IsList(bytes.TrimLeft(jsonscan.ValueAfter(body, key), " \t\r\n")) {
		return nil
	}
	name := string(key[1 : len(key)-1])
	raw, there := jsonedit.Find(body, name)
	switch _, failed := jsonedit.Find(body, "error"); {
	case jsonscan.IsList(raw):
		return nil
	case failed && !there:
		return fault.Newf(fault.UpstreamInvalid, "the provider responded with success, but reports an error and has no %s", name)
	case there:
		return fault.Newf(fault.UpstreamInvalid, "the provider response does not match this endpoint: its %s is not a list", name)
	}
	return fault.Newf(fault.UpstreamInvalid, "the provider response does not match this endpoint: it has no %s", name)
}
