package dataplane

import (
	"bytes"

	"sluice/internal/llm"
)

// worded lists the endpoints that are billed by text input and output, whose tokens the gateway
// can count.
var worded = map[llm.Endpoint]bool{llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true}

// countableEndpoint returns the endpoint whose format is used to count the call and its response.
// It is empty if they are not billed by text. A passed-through call is recognised by its body: it
// has a model and input for it. Images and videos also have prompts, but their responses are not
// event streams. Redirects are not counted.
func (a *attempt) countableEndpoint() llm.Endpoint {
	ep, doc := a.x.match.Endpoint, a.x.doc
	switch {
	case worded[ep]:
		return ep
	case ep != llm.Proxy, doc == nil, a.model == "", a.status >= 300 && a.status < 400:
		return ""
	case doc.Has("messages"):
		if a.spec.Dialect == anthropic || doc.Has("system") {
			return llm.Messages
		}
		return llm.ChatComplete
	case doc.Has("prompt") && eventStream(a.response.header):
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

// hasEventBody reports whether the response is an event stream. The response header decides if
// the request does not: providers request streams in different ways, and the body may not be
// parsed.
func (a *attempt) hasEventBody() bool {
	return a.stream && a.x.match.Endpoint != llm.Proxy || eventStream(a.response.header)
}
