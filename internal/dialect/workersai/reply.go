package workersai

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// result unwraps a response from its envelope:
// {"result":{…},"success":true,"errors":[],"messages":[]}. An envelope that reports a failure
// is not a response, whatever its result is.
func result(body []byte) ([]byte, error) {
	success, _ := jsonedit.Find(body, "success")
	if ev, failed := failure(body); failed && string(success) == "false" {
		return nil, fault.Newf(fault.UpstreamFailed, "the provider reports that the model failed: %s", ev.Text)
	}
	raw, ok := jsonedit.Find(body, "result")
	if !ok || len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no result")
	}
	return raw, nil
}

// DecodeResponse reads {"response":"…","tool_calls":[…],"usage":{…}} or, from models that use
// OpenAI's format, {"choices":[…]}.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	raw, err := result(incoming.Body)
	if err != nil {
		return nil, err
	}
	r := &llm.Response{ID: jsonedit.Text(raw, "id"), Model: jsonedit.Text(raw, "model")}
	r.Usage, _ = usage.Read(llm.ChatComplete, raw, "")
	list, chatty := jsonedit.Find(raw, "choices")
	for c := range jsonedit.Elements(list) {
		message, _ := jsonedit.Find(c, "message")
		r.Choices = append(r.Choices, choice(len(r.Choices), message, jsonedit.Text(c, "finish_reason"), "content"))
	}
	if !chatty {
		r.Choices = []llm.Choice{choice(0, raw, jsonedit.Text(raw, "finish_reason"), "response")}
	}
	if len(r.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no choices")
	}
	return r, nil
}

// choice reads the content. The text is under the given name.
func choice(index int, raw []byte, finish, name string) llm.Choice {
	c := llm.Choice{Index: index, Raw: finish}
	if reasoning := surrogates.ReplaceLone(reasoningText(raw)); reasoning != "" {
		c.Parts = append(c.Parts, llm.Part{Kind: llm.ReasoningPart, Text: reasoning})
	}
	content, _ := jsonedit.Find(raw, name)
	if s := surrogates.ReplaceLone(text(content)); s != "" {
		c.Parts = append(c.Parts, llm.Part{Kind: llm.TextPart, Text: s})
	}
	calls, _ := jsonedit.Find(raw, "tool_calls")
	called := false
	for val := range jsonedit.Elements(calls) {
		f := readCall(val)
		if f.name == "" { // no caller could run it
			continue
		}
		if f.id == "" {
			f.id = ident.NewObjectID("call_")
		}
		called = true
		c.Parts = append(c.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: f.id, Name: f.name, Arguments: surrogates.ReplaceLone(f.arguments)}})
	}
	c.Finish = finishOf(finish, called)
	return c
}

// finishOf returns the finish reason, which most models do not report.
func finishOf(reason string, called bool) llm.Finish {
	switch {
	case reason == "length":
		return llm.FinishLength
	case reason == "content_filter":
		return llm.FinishFilter
	case called:
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}

// reasoningText returns the reasoning of a reasoning model.
func reasoningText(raw []byte) string {
	for _, name := range [...]string{"reasoning_content", "reasoning"} {
		val, _ := jsonedit.Find(raw, name)
		if s := surrogates.DecodeFragment(val); s != "" {
			return s
		}
	}
	return ""
}

// text is a fragment of a response. If JSON was requested, it may arrive as JSON. A single
// digit may arrive as a number.
func text(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return surrogates.DecodeFragment(raw)
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// function is a tool call, or a fragment of one.
type function struct {
	id, name, arguments string
	index               int
	placed              bool // it has an index
}

// readCall reads {"name":"f","arguments":{…}} or, in OpenAI's words,
// {"id":"call_1","index":0,"function":{"name":"f","arguments":"{…}"}}.
func readCall(raw []byte) function {
	var f function
	f.id = jsonedit.Text(raw, "id")
	if number, ok := jsonedit.Find(raw, "index"); ok {
		n, ok := usage.Count(number)
		f.index, f.placed = int(n), ok
	}
	if inner, ok := jsonedit.Find(raw, "function"); ok {
		raw = inner
	}
	f.name = jsonedit.Text(raw, "name")
	arguments, _ := jsonedit.Find(raw, "arguments")
	f.arguments = text(arguments)
	return f
}
