package entry

import (
	"slices"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Reason is why a response is not stored; empty if it is. Metrics use it as a label.
type Reason string

// The reasons.
const (
	ReasonStatus   Reason = "status"   // not 200; 246 means that a guardrail objected
	ReasonCut      Reason = "cut"      // the stream or the body ended early
	ReasonSize     Reason = "size"     // empty, or larger than permitted
	ReasonInvalid  Reason = "invalid"  // not a response in the format of its endpoint
	ReasonError    Reason = "error"    // contains an error
	ReasonFiltered Reason = "filtered" // refused or filtered
	ReasonPartial  Reason = "partial"  // the model has not finished
)

// Candidate is a response that may be stored.
type Candidate struct {
	Endpoint llm.Endpoint // of the route whose format Body has
	Status   int
	Body     []byte // complete; a stream is assembled
	Cut      bool   // the stream or the body ended before its end
	Failed   bool   // the stream contained an error event
}

// Storable returns "" if the response is a complete success of at most maxBytes, and otherwise
// why it is not.
//
// A response that ended at the caller's own max_tokens is complete, because each equal call would
// end there. A response of the Responses API with status "incomplete" is not.
func Storable(c *Candidate, maxBytes int) Reason {
	switch {
	case c.Status != 200:
		return ReasonStatus
	case c.Cut:
		return ReasonCut
	case c.Failed:
		return ReasonError
	case len(c.Body) == 0 || len(c.Body) > maxBytes:
		return ReasonSize
	}
	judge := judges[c.Endpoint]
	if judge == nil {
		return ""
	}
	if !jsonedit.Valid(c.Body) {
		return ReasonInvalid
	}
	if raw, _ := jsonedit.Find(c.Body, "error"); !jsonedit.IsNull(raw) || jsonedit.Text(c.Body, "type") == "error" {
		return ReasonError
	}
	return judge(c.Body)
}

// judges decide about valid JSON without an error, by endpoint. Responses of other endpoints, such
// as audio, are stored as they are.
var judges = map[llm.Endpoint]func(body []byte) Reason{
	llm.ChatComplete:        judgeChoices,
	llm.Complete:            judgeChoices,
	llm.Messages:            judgeMessage,
	llm.CreateModelResponse: judgeResponse,
	llm.Embed:               judgeList("data"),
	llm.Rerank:              judgeList("results", "data"),
	llm.Moderate:            judgeList("results"),
	llm.ImageGenerate:       judgeList("data"),
}

// These are the reasons for which a model stops when it has finished. The names of providers
// occur where strict compliance is disabled.
var (
	finished = []string{"stop", "length", "tool_calls", "function_call", "end_turn", "stop_sequence", "tool_use", "max_tokens", "eos", "eos_token", "complete", "COMPLETE", "STOP", "MAX_TOKENS"}
	filtered = []string{"content_filter", "refusal", "safety", "SAFETY", "guardrail_intervened", "content_filtered", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ERROR_TOXIC"}
)

func judgeFinish(reason string) Reason {
	switch {
	case slices.Contains(finished, reason):
		return ""
	case slices.Contains(filtered, reason):
		return ReasonFiltered
	}
	return ReasonPartial
}

// judgeChoices judges chat and text completions.
func judgeChoices(body []byte) Reason {
	choices, _ := jsonedit.Find(body, "choices")
	count := 0
	for c := range jsonedit.Elements(choices) {
		count++
		if raw, _ := jsonedit.Find(c, "error"); !jsonedit.IsNull(raw) {
			return ReasonError
		}
		if reason := judgeFinish(jsonedit.Text(c, "finish_reason")); reason != "" {
			return reason
		}
		if jsonedit.Text(c, "message", "refusal") != "" {
			return ReasonFiltered
		}
	}
	return unlessEmpty(count)
}

func unlessEmpty(count int) Reason {
	if count == 0 {
		return ReasonInvalid
	}
	return ""
}

// judgeMessage judges Anthropic's messages. A turn that pauses has not finished.
func judgeMessage(body []byte) Reason {
	if jsonedit.Text(body, "type") != "message" {
		return ReasonInvalid
	}
	return judgeFinish(jsonedit.Text(body, "stop_reason"))
}

// judgeResponse judges a response of the Responses API.
func judgeResponse(body []byte) Reason {
	switch status := jsonedit.Text(body, "status"); {
	case status == "failed":
		return ReasonError
	case status == "incomplete" && jsonedit.Text(body, "incomplete_details", "reason") == "content_filter":
		return ReasonFiltered
	case status != "completed":
		return ReasonPartial
	}
	output, _ := jsonedit.Find(body, "output")
	count := 0
	for item := range jsonedit.Elements(output) {
		count++
		content, _ := jsonedit.Find(item, "content")
		for part := range jsonedit.Elements(content) {
			if jsonedit.Text(part, "type") == "refusal" {
				return ReasonFiltered
			}
		}
	}
	return unlessEmpty(count)
}

// judgeList returns a judge for responses with a list that is not empty, under one of the names.
func judgeList(names ...string) func([]byte) Reason {
	return func(body []byte) Reason {
		for _, name := range names {
			list, _ := jsonedit.Find(body, name)
			for range jsonedit.Elements(list) {
				return ""
			}
		}
		return ReasonInvalid
	}
}
