package responses

import (
	"cmp"
	"encoding/json"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeResponse reads a response. One that failed is fault.UpstreamInvalid with the
// provider's text.
func (upstream) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	r := &llm.Response{}
	var output []byte
	for name, val := range jsonedit.Members(incoming.Body) {
		switch n := plainName(name); {
		case jsonedit.IsNull(val), echoed[n]:
		case n == "id":
			r.ID, _ = jsonedit.Unquote(val)
		case n == "model":
			r.Model, _ = jsonedit.Unquote(val)
		case n == "created_at":
			r.Created = seconds(val)
		case n == "output":
			output = val
		default:
			r.Extra = append(r.Extra, llm.Param{Name: n, Raw: val})
		}
	}
	if jsonedit.Text(incoming.Body, "status") == failedStatus {
		raw, _ := jsonedit.Find(incoming.Body, "error")
		return nil, fault.New(fault.UpstreamInvalid, cmp.Or(jsonedit.Text(raw, "message"), "the provider cannot create the response"))
	}
	if len(output) == 0 || output[0] != '[' {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response has no output")
	}
	r.Choices = []llm.Choice{readOutput(output)}
	c := &r.Choices[0]
	c.Finish, c.Raw = finishOf(incoming.Body, calls(c.Parts))
	r.Usage, _ = usage.Read(llm.CreateModelResponse, incoming.Body, "")
	return r, nil
}

// echoed are the members that repeat the call, or are read elsewhere.
var echoed = map[string]bool{
	"object": true, "status": true, "usage": true, "error": true, "incomplete_details": true, "instructions": true, "metadata": true,
	"parallel_tool_calls": true, "temperature": true, "tool_choice": true, "tools": true, "top_p": true, "background": true,
	"completed_at": true, "conversation": true, "max_output_tokens": true, "max_tool_calls": true, "previous_response_id": true,
	"prompt": true, "prompt_cache_key": true, "prompt_cache_retention": true, "reasoning": true, "safety_identifier": true, "store": true,
	"text": true, "top_logprobs": true, "truncation": true, "user": true, "provider": true, "frequency_penalty": true, "presence_penalty": true,
}

// seconds reads a time, which some providers send with a fraction. It returns 0 if the value
// is not a number.
func seconds(raw []byte) int64 {
	var epoch float64
	if json.Unmarshal(raw, &epoch) != nil {
		return 0
	}
	return int64(epoch)
}

// finishOf returns the finish reason of a response.
func finishOf(response []byte, called bool) (llm.Finish, string) {
	status := jsonedit.Text(response, "status")
	raw, _ := jsonedit.Find(response, "incomplete_details")
	switch reason := jsonedit.Text(raw, "reason"); {
	case status == incomplete && reason == "content_filter":
		return llm.FinishFilter, reason
	case status == incomplete:
		return llm.FinishLength, cmp.Or(reason, status)
	case called:
		return llm.FinishToolCalls, status
	default:
		return llm.FinishStop, status
	}
}

func calls(parts []llm.Part) bool {
	for i := range parts {
		if parts[i].Kind == llm.CallPart {
			return true
		}
	}
	return false
}

// readOutput reads the items of a response.
func readOutput(list []byte) llm.Choice {
	var c llm.Choice
	var logprobs []byte
	for val := range jsonedit.Elements(list) {
		if jsonedit.Text(val, "type") != "message" {
			if p, ok := readItem(val); ok {
				c.Parts = append(c.Parts, p)
			}
			continue
		}
		content, _ := jsonedit.Find(val, "content")
		for part := range jsonedit.Elements(content) {
			c.Parts = append(c.Parts, readMessagePart(part))
			entries, _ := jsonedit.Find(part, "logprobs")
			for e := range jsonedit.Elements(entries) {
				logprobs = gather(logprobs, e)
			}
		}
	}
	if len(logprobs) > 0 {
		var w jsonwriter.Writer
		w.Open('{')
		appendList(&w, "content", logprobs)
		w.Close('}')
		c.Logprobs = w.B
	}
	return c
}

// readMessagePart reads one part of a message of the model. A part of an unknown type stays
// unchanged.
func readMessagePart(raw []byte) llm.Part {
	switch jsonedit.Text(raw, "type") {
	case "output_text", "text":
		p := llm.Part{Kind: llm.TextPart, Text: jsonedit.Text(raw, "text")}
		if notes, _ := jsonedit.Find(raw, "annotations"); len(notes) > 2 && notes[0] == '[' {
			p.Citations, p.Shape = notes, shapeName
		}
		return p
	case "refusal":
		return llm.Part{Kind: llm.RefusalPart, Text: jsonedit.Text(raw, "refusal")}
	case "output_audio":
		return llm.Part{Kind: llm.AudioPart, Text: jsonedit.Text(raw, "transcript"), Media: &llm.Media{Data: jsonedit.Text(raw, "data")}}
	default:
		return llm.Part{Kind: llm.OpaquePart, Raw: raw, Shape: shapeName}
	}
}

// readItem reads an item that is not a message. It returns false for an empty item.
func readItem(raw []byte) (llm.Part, bool) {
	switch kind := jsonedit.Text(raw, "type"); kind {
	case "reasoning":
		return readReasoning(raw)
	case "function_call", "custom_tool_call":
		c := &llm.ToolCall{ID: cmp.Or(jsonedit.Text(raw, "call_id"), jsonedit.Text(raw, "id")), Name: jsonedit.Text(raw, "name"), Custom: kind != "function_call"}
		if c.ID == "" {
			c.ID = "call_" + strings.ReplaceAll(ident.NewID(), "-", "")
		}
		c.Arguments = jsonedit.Text(raw, "arguments")
		if c.Custom {
			c.Arguments = jsonedit.Text(raw, "input")
		}
		return llm.Part{Kind: llm.CallPart, ID: jsonedit.Text(raw, "id"), Call: c}, c.Name != ""
	case "image_generation_call":
		data := jsonedit.Text(raw, "result")
		return llm.Part{Kind: llm.ImagePart, ID: jsonedit.Text(raw, "id"), Media: &llm.Media{MIME: imageType(raw), Data: data}}, data != ""
	default:
		return llm.Part{Kind: llm.OpaquePart, ID: jsonedit.Text(raw, "id"), Raw: raw, Shape: shapeName}, len(raw) > 0 && raw[0] == '{'
	}
}

// imageType returns the type of an image that a provider generated.
func imageType(raw []byte) string {
	return "image/" + cmp.Or(jsonedit.Text(raw, "output_format"), "png")
}

// readReasoning reads a reasoning item: a thought, whether its summary is empty or not; false when
// it says nothing.
func readReasoning(raw []byte) (llm.Part, bool) {
	p := llm.Part{Kind: llm.ReasoningPart, ID: jsonedit.Text(raw, "id"), Signature: jsonedit.Text(raw, "encrypted_content")}
	for _, list := range [...]string{"summary", "content"} {
		texts, _ := jsonedit.Find(raw, list)
		if p.Text = joined(texts); p.Text != "" {
			break
		}
	}
	return signatures.SignedBy(shapeName, p), p.Text != "" || p.Signature != ""
}
