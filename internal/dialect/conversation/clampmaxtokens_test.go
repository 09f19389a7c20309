package conversation_test

import (
	"testing"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		surface   llm.Endpoint
		requested string
		limit     int64
		want      string
		lowered   bool
	}{
		{llm.Messages, "32000", 16384, "16384", true}, {llm.Messages, "16384", 16384, "16384", false}, {llm.Messages, "32000", 0, "32000", false},
		{llm.Messages, "3e4", 16384, "3e4", false}, {llm.ChatComplete, "32000", 16384, "32000", false},
	} {
		call := &llm.Call{Surface: c.surface, Params: []llm.Param{{Name: "temperature", Raw: []byte("1")}, {Name: llm.MaxTokens, Raw: []byte(c.requested)}}}
		got, lowered := conversation.ClampMaxTokens(call, c.limit)
		if string(got.Params[1].Raw) != c.want || lowered != c.lowered || string(call.Params[1].Raw) != c.requested {
			t.Errorf("%+v: %s, %v; the call has %s", c, got.Params[1].Raw, lowered, call.Params[1].Raw)
		}
	}
}
