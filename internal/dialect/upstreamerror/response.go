package upstreamerror

import (
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DetectFailure reports whether a successful response means that the call failed, and the HTTP
// status for the failure, 500 if it is unknown. A failure is a response with the status "failed", a
// chat with a choice that ended with an error, or an error next to a response. The body may contain
// usage and a partial output. A response that ended early, by its length or a filter, is not a
// failure.
// Source: https://platform.openai.com/docs/api-reference/responses/object,
// https://openrouter.ai/docs/api/reference/errors-and-debugging, read 2026-11.
func DetectFailure(ep llm.Endpoint, body []byte) (status int, message string, failed bool) {
	switch ep {
	case llm.CreateModelResponse:
		if outcome, _ := jsonedit.Find(body, "status"); !jsonedit.IsName(outcome, "failed") {
			return 0, "", false
		}
	case llm.ChatComplete, llm.Complete:
		return failedChat(body)
	case llm.Messages:
		if raw, _ := jsonedit.Find(body, "error"); !jsonscan.IsObject(raw) {
			return 0, "", false
		}
	default:
		return 0, "", false
	}
	raw, _ := jsonedit.Find(body, "error")
	if noError(raw) {
		return 500, "the provider cannot create the response", true
	}
	f := readFault(raw)
	return f.Status(), f.Message, true
}

func failedChat(body []byte) (status int, message string, failed bool) {
	if !jsonscan.HasValue(body, ErrorKey) && jsonscan.ValueAfter(body, FinishKey) == nil {
		return 0, "", false
	}
	if raw, _ := jsonedit.Find(body, "error"); jsonscan.IsObject(raw) {
		f := readFault(raw)
		return f.Status(), f.Message, true
	}
	list, _ := jsonedit.Find(body, "choices")
	for choice := range jsonedit.Elements(list) {
		if raw, _ := jsonedit.Find(choice, "error"); jsonscan.IsObject(raw) {
			f := readFault(raw)
			return f.Status(), f.Message, true
		}
		if outcome, _ := jsonedit.Find(choice, "finish_reason"); jsonedit.IsName(outcome, EventName) {
			return 500, "the provider reports that the model failed", true
		}
	}
	return 0, "", false
}
