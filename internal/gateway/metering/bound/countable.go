package bound

import (
	"bytes"

	"sluice/internal/kernel/llm"
)

// worded lists the endpoints that are billed by text input and output, whose tokens the gateway
// can count.
var worded = map[llm.Endpoint]bool{llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true}

// CountableEndpoint returns the endpoint whose format is used to count the call and its response,
// which had a status and is an event stream or not. It is empty if they are not billed by text. A
// passed-through call is recognised by its body: it has a model and input for it. Images and
// videos also have prompts, but their responses are not event streams. Redirects are not counted.
func (c *Call) CountableEndpoint(status int, events bool) llm.Endpoint {
	ep, doc := c.Endpoint, c.Doc
	switch {
	case worded[ep]:
		return ep
	case ep != llm.Proxy, doc == nil, c.Model == "", status >= 300 && status < 400:
		return ""
	case doc.Has("messages"):
		if c.Spec.Dialect == "anthropic" || doc.Has("system") {
			return llm.Messages
		}
		return llm.ChatComplete
	case doc.Has("prompt") && events:
		return llm.Complete
	}
	input, _ := doc.Raw("input")
	return wordingOf(input)
}

// wordingOf returns the endpoint of a call by its input: a conversation is a string or a list of
// items; embedding input is a list of strings or of tokens.
func wordingOf(input []byte) llm.Endpoint {
	list, isList := bytes.CutPrefix(input, []byte{'['})
	switch {
	case bytes.HasPrefix(input, []byte{'"'}), isList && bytes.HasPrefix(bytes.TrimLeft(list, " \t\r\n"), []byte{'{'}):
		return llm.CreateModelResponse
	case isList:
		return llm.Embed
	}
	return ""
}
