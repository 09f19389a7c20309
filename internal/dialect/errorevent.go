package dialect

import (
	"encoding/json"

	"sluice/internal/llm"
)

// ErrorEvent is the event that tells the reader of a stream that it failed, in the
// words of the surface; nothing, not even [DONE], follows it. Typ is for example
// "upstream_error". On chat it is data: {"error":{…}}; on responses and messages it is
// named error.
func ErrorEvent(ep llm.Endpoint, message, typ string) []byte {
	inner := map[string]any{"message": message, "type": typ, "param": nil, "code": nil}
	switch ep {
	case llm.ChatComplete, llm.Complete:
		return sse("", map[string]any{"error": inner})
	case llm.CreateModelResponse:
		return sse("error", map[string]any{"type": "error", "code": typ, "message": message, "param": nil, "sequence_number": 0})
	case llm.Messages:
		return sse("error", map[string]any{"type": "error", "error": map[string]any{"type": typ, "message": message}})
	default:
		return sse("error", map[string]any{"type": "error", "error": inner})
	}
}

func sse(name string, data any) []byte {
	b, _ := json.Marshal(data) // strings and nils: cannot fail
	if name != "" {
		name = "event: " + name + "\n"
	}
	return []byte(name + "data: " + string(b) + "\n\n")
}
