package openai

import (
	"cmp"
	"encoding/json"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads a chat completion.
func (chat) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{}
	for name, val := range jsonedit.Members(incoming.Body) {
		switch n := plainName(name); n {
		case "id":
			r.ID, _ = jsonedit.Unquote(val)
		case "model":
			r.Model, _ = jsonedit.Unquote(val)
		case "created":
			_ = json.Unmarshal(val, &r.Created) // a time that is not a number is ignored
		case "choices":
			for c := range jsonedit.Elements(val) {
				r.Choices = append(r.Choices, readChat(c, len(r.Choices)))
				if f, ok := choiceFault(c, r.Choices[len(r.Choices)-1].Raw); ok {
					return nil, fault.New(fault.UpstreamFailed, f.Text)
				}
			}
		case "object", "usage", "provider":
		default:
			if !jsonedit.IsNull(val) {
				r.Extra = append(r.Extra, llm.Param{Name: n, Raw: val})
			}
		}
	}
	r.Usage, _ = usage.Read(llm.ChatComplete, incoming.Body, "")
	if len(r.Choices) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no choices")
	}
	return r, nil
}

func readChat(raw []byte, i int) llm.Choice {
	c := llm.Choice{Index: i}
	for name, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		switch n := plainName(name); n {
		case "index", "delta":
		case "finish_reason":
			c.Raw, _ = jsonedit.Unquote(val)
		case "logprobs":
			c.Logprobs = val
		case "message":
			c.Parts = readResponseMessage(val)
		default:
			c.Extra = append(c.Extra, llm.Param{Name: n, Raw: val})
		}
	}
	c.Finish = finishOf(c.Raw, c.HasToolCalls())
	return c
}

// finishOf maps the finish reasons of OpenAI-shaped providers, including their own ones. Many
// return "stop" for a response that calls tools, as OpenAI does if the caller named the tool.
// "tool_calls" on a response without calls would make its reader wait for nothing.
// Source: contract/provider-transforms.md 1.1.
func finishOf(reason string, called bool) llm.Finish {
	switch reason {
	case "":
		return llm.FinishNone
	case "length", "model_length", "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "content_filter", "sensitive":
		return llm.FinishFilter
	}
	if called {
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}

// choiceFault returns the error of a response that failed midway, as OpenRouter and Mistral
// report it: {"index":0,"finish_reason":"error","error":{"code":502,"message":"…"}}.
// Source: https://openrouter.ai/docs/api/reference/errors-and-debugging, read 2026-11.
func choiceFault(choice []byte, finish string) (llm.Event, bool) {
	f, ok := upstreamerror.ReadEvent(choice)
	if !ok && finish == "error" {
		return llm.Event{Kind: llm.EventFault, Text: "the provider reports that the model failed", Name: "server_error", Status: 500}, true
	}
	return f, ok
}

// readResponseMessage reads a message of a response: reasoning, text, images, refusal, calls.
func readResponseMessage(raw []byte) []llm.Part {
	var parts []llm.Part
	var m turn
	var audio, notes, images []byte
	for name, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		switch n := plainName(name); n {
		case "audio":
			audio = val
		case "annotations":
			notes = val
		case "images":
			images = val
		default:
			if to := m.field([]byte(n)); to != nil {
				*to = val
			}
		}
	}
	if m.blocks == nil {
		parts = m.reasoningParts()
	}
	content := m.content
	if m.blocks != nil && m.blocks[0] == '[' {
		content = m.blocks
	}
	parts = append(parts, readResponseContent(content)...)
	if n := len(parts); n > 0 && len(notes) > 2 && parts[n-1].Kind == llm.TextPart {
		parts[n-1].Citations, parts[n-1].Shape = notes, shapeName
	}
	parts = append(parts, pictures(images)...)
	if text, _ := jsonedit.Unquote(m.refusal); text != "" {
		parts = append(parts, llm.Part{Kind: llm.RefusalPart, Text: text})
	}
	if audio != nil {
		parts = append(parts, llm.Part{
			Kind: llm.AudioPart, ID: jsonedit.Text(audio, "id"), Text: jsonedit.Text(audio, "transcript"), Media: &llm.Media{Data: jsonedit.Text(audio, "data")},
		})
	}
	for val := range jsonedit.Elements(m.calls) {
		custom, isCustom := jsonedit.Find(val, llm.Custom)
		fn, _ := jsonedit.Find(val, llm.Function)
		if isCustom {
			fn = custom
		}
		parts = appendCalled(parts, jsonedit.Text(val, "id"), fn, isCustom)
	}
	return appendCalled(parts, "", m.function, false)
}

// appendCalled adds a call of a response, if it is one.
func appendCalled(parts []llm.Part, id string, fn []byte, custom bool) []llm.Part {
	name := jsonedit.Text(fn, "name")
	if name == "" {
		return parts
	}
	call := &llm.ToolCall{ID: cmp.Or(id, ident.NewObjectID("call_")), Name: name, Arguments: surrogates.ReplaceLone(argumentsOf(fn)), Custom: custom}
	return append(parts, llm.Part{Kind: llm.CallPart, Index: -1, Call: call, Signature: jsonedit.Text(fn, "thought_signature")})
}

// readResponseContent reads the content of a response: a string, or a list as reasoning models
// of Mistral and callers of content_blocks use it.
func readResponseContent(raw []byte) []llm.Part {
	if text, ok := jsonedit.Unquote(raw); ok {
		if text == "" {
			return nil
		}
		return []llm.Part{{Kind: llm.TextPart, Text: text}}
	}
	var parts []llm.Part
	for val := range jsonedit.Elements(raw) {
		if p, err := readPart(val, ""); err == nil {
			parts = append(parts, p)
		}
	}
	return parts
}
