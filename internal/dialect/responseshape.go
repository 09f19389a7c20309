package dialect

import (
	"bytes"

	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// listMember is the member of an answer without which it is none of that endpoint: a list
// that clients walk through without a look at its type. Nil where clients trust in less.
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

// CheckListMember refuses a JSON answer of success that is a valid object and yet no answer of its
// endpoint, with fault.UpstreamInvalid, so that another target may be tried: one whose
// list of choices, contents, outputs or data is missing or is no list, as of a provider
// that reports an error with a status of success. Wrong types further below are the
// provider's own and are relayed. It looks for the name alone first, so that a list of that
// name further below passes too: the plain case must cost no second walk.
func CheckListMember(ep llm.Endpoint, body []byte) error {
	key := listMember(ep)
	if key == nil {
		return nil
	}
	if isList(bytes.TrimLeft(valueAfter(body, key), " \t\r\n")) {
		return nil
	}
	name := string(key[1 : len(key)-1])
	raw, there := splice.Find(body, name)
	switch _, failed := splice.Find(body, "error"); {
	case isList(raw):
		return nil
	case failed && !there:
		return fault.Newf(fault.UpstreamInvalid, "the provider responded with success, but reports an error and has no %s", name)
	case there:
		return fault.Newf(fault.UpstreamInvalid, "the provider response does not match this endpoint: its %s is not a list", name)
	}
	return fault.Newf(fault.UpstreamInvalid, "the provider response does not match this endpoint: it has no %s", name)
}
