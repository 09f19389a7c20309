package oracle

import (
	"cmp"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// readCohere reads {"apiFormat":"COHERE","text":"Hi","finishReason":"COMPLETE",…} into r.
// Members that repeat the conversation are omitted.
// Source: https://docs.oracle.com/en-us/iaas/tools/python/latest/api/generative_ai_inference/models/oci.generative_ai_inference.models.CohereChatResponse.html,
// read 2026-11.
func readCohere(body []byte, r *llm.Response) error {
	a := cohereResponse{}
	a.read(body, func(name, val []byte) { r.Extra = extra(r.Extra, name, val) })
	if f, failed := a.fault(); failed {
		return fault.Newf(fault.UpstreamFailed, "the provider reports that the model failed: %s", f.Text)
	}
	if !a.hasFinish {
		return fault.New(fault.UpstreamInvalid, "the provider response has no finishReason")
	}
	c := llm.Choice{Raw: a.finish}
	if text, _ := jsonedit.Unquote(a.text); text != "" {
		c.Parts = append(c.Parts, llm.Part{Kind: llm.TextPart, Text: text})
	}
	for val := range jsonedit.Elements(a.calls) {
		if call, ok := cohereCall(val); ok {
			c.Parts = append(c.Parts, llm.Part{Kind: llm.CallPart, Call: call})
		}
	}
	c.Finish = finished(c.Raw, c.HasToolCalls())
	readUsage(a.usage, &r.Usage)
	r.Choices = append(r.Choices, c)
	return nil
}

// cohereResponse is a parsed response in Cohere's format, or a parsed event of a stream.
type cohereResponse struct {
	text, calls, usage []byte
	finish, failure    string
	hasFinish          bool // it contains a finish reason
}

func (a *cohereResponse) read(body []byte, other func(name, val []byte)) {
	for name, val := range jsonedit.Members(body) {
		if jsonedit.IsNull(val) {
			continue
		}
		switch string(name) {
		case `"text"`:
			a.text = val
		case `"toolCalls"`:
			a.calls = val
		case `"usage"`:
			a.usage = val
		case `"finishReason"`:
			a.finish, _ = jsonedit.Unquote(val)
			a.hasFinish = a.finish != ""
		case `"errorMessage"`:
			a.failure, _ = jsonedit.Unquote(val)
		case `"apiFormat"`, `"chatHistory"`, `"prompt"`, `"isSearchRequired"`, `"pad"`, `"modelId"`:
		default:
			other(name, val)
		}
	}
}

// fault returns the error of a model that failed during its response.
func (a *cohereResponse) fault() (llm.Event, bool) {
	if a.failure == "" && !strings.EqualFold(a.finish, "ERROR") {
		return llm.Event{}, false
	}
	return modelFault(a.failure), true
}

// modelFault returns the error of a failed model, with the provider's reason.
func modelFault(reason string) llm.Event {
	return llm.Event{Kind: llm.EventFault, Text: cmp.Or(reason, "the model returned no reason"), Name: "server_error", Status: 500}
}

// readV2 reads {"apiFormat":"COHEREV2","message":{…},"finishReason":"COMPLETE",…} into r.
// Source: https://docs.oracle.com/en-us/iaas/tools/python/latest/api/generative_ai_inference/models/oci.generative_ai_inference.models.CohereChatResponseV2.html,
// read 2026-11.
func readV2(body []byte, r *llm.Response) error {
	c := readChoice(body, 0, &r.Usage)
	switch {
	case strings.EqualFold(c.Raw, "ERROR"):
		return fault.Newf(fault.UpstreamFailed, "the provider reports that the model failed: %s", modelFault(jsonedit.Text(body, "errorMessage")).Text)
	case c.Raw == "":
		return fault.New(fault.UpstreamInvalid, "the provider response has no finishReason")
	}
	r.Choices = append(r.Choices, c)
	return nil
}

// cohereCall reads {"name":"f","parameters":{…}}, which has no id. It returns false for a call
// without a name.
func cohereCall(raw []byte) (*llm.ToolCall, bool) {
	name := jsonedit.Text(raw, "name")
	args, _ := jsonedit.Find(raw, "parameters")
	if jsonedit.IsNull(args) {
		args = []byte("{}")
	}
	return &llm.ToolCall{ID: ident.NewObjectID("call_"), Name: name, Arguments: string(args)}, name != ""
}
