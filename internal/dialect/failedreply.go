package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// DetectResponseFailure reports whether an answer of success says that the call failed, and the status
// that stands for that, 500 where nothing tells: a response with the status "failed", a chat
// of which a choice ended with an error, and an error beside an answer. Usage and what was
// answered until then may be in it. An answer that ended early, by its length or a filter,
// has not failed.
// Source: https://platform.openai.com/docs/api-reference/responses/object,
// https://openrouter.ai/docs/api/reference/errors-and-debugging, read 2026-11.
func DetectResponseFailure(ep llm.Endpoint, body []byte) (status int, message string, failed bool) {
	switch ep {
	case llm.CreateModelResponse:
		if outcome, _ := splice.Find(body, "status"); !splice.IsName(outcome, "failed") {
			return 0, "", false
		}
	case llm.ChatComplete, llm.Complete:
		return failedChat(body)
	case llm.Messages:
		if raw, _ := splice.Find(body, "error"); !isObject(raw) {
			return 0, "", false
		}
	default:
		return 0, "", false
	}
	raw, _ := splice.Find(body, "error")
	if noError(raw) {
		return 500, "the provider cannot create the response", true
	}
	f := readFault(raw)
	return f.status(), f.message, true
}

func failedChat(body []byte) (status int, message string, failed bool) {
	if !hasValue(body, errorKey) && valueAfter(body, finishKey) == nil {
		return 0, "", false
	}
	if raw, _ := splice.Find(body, "error"); isObject(raw) {
		f := readFault(raw)
		return f.status(), f.message, true
	}
	list, _ := splice.Find(body, "choices")
	for choice := range splice.Elements(list) {
		if raw, _ := splice.Find(choice, "error"); isObject(raw) {
			f := readFault(raw)
			return f.status(), f.message, true
		}
		if outcome, _ := splice.Find(choice, "finish_reason"); splice.IsName(outcome, errorName) {
			return 500, "the provider reports that the model failed", true
		}
	}
	return 0, "", false
}
