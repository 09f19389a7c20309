package upstreamerror

import (
	"encoding/json"

	"sluice/internal/kernel/llm"
)

// Event is the event that reports to a client that its stream failed, in the shape of the
// surface. Nothing follows it, not even [DONE]. Typ is for example "upstream_error". On chat it is
// data: {"error":{…}}; on responses and messages it is named error. On messages a type that
// Anthropic does not have becomes "api_error".
func Event(ep llm.Endpoint, message, typ string) []byte {
	return NumberedEvent(ep, message, typ, 0)
}

// NumberedEvent is Event with the sequence number for responses: one more than that of
// the event before it.
func NumberedEvent(ep llm.Endpoint, message, typ string, number int64) []byte {
	if ep == llm.Messages && !MessagesTypes[typ] {
		typ = "api_error"
	}
	inner := map[string]any{"message": message, "type": typ, "param": nil, "code": nil}
	switch ep {
	case llm.ChatComplete, llm.Complete:
		return formatEvent("", map[string]any{"error": inner})
	case llm.CreateModelResponse:
		return formatEvent("error", map[string]any{"type": "error", "code": typ, "message": message, "param": nil, "sequence_number": number})
	case llm.Messages:
		return formatEvent("error", map[string]any{"type": "error", "error": map[string]any{"type": typ, "message": message}})
	default:
		return formatEvent("error", map[string]any{"type": "error", "error": inner})
	}
}

func formatEvent(name string, data any) []byte {
	b, _ := json.Marshal(data) // strings and nils: cannot fail
	if name != "" {
		name = "event: " + name + "\n"
	}
	return []byte(name + "data: " + string(b) + "\n\n")
}
