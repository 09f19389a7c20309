package dataplane

import (
	"bytes"

	"sluice/internal/llm"
)

// worded are the endpoints that are billed by what models read and write, which can be
// counted here.
var worded = map[llm.Endpoint]bool{llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true}

// countableEndpoint is the endpoint in whose words the call and its answer are counted; empty where
// they are not billed by words. A call that is passed through is known by its body: it names a
// model, and has what models read. Pictures and films are made of prompts, too, but not told
// in events. Redirects are no answers.
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

// wordingOf is that of a call with an input: a conversation is a text or a list of items, what
// is to be embedded a list of texts or of tokens.
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

// hasEventBody reports whether the answer is a stream of events, which its head tells where the
// body does not: providers have other words for wanting one, and it may not be read.
func (a *attempt) hasEventBody() bool {
	return a.stream && a.x.match.Endpoint != llm.Proxy || eventStream(a.response.header)
}
