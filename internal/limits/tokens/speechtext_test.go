package tokens_test

import (
	"testing"

	"sluice/internal/limits/tokens"
)

func TestSpoken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, events, want string }{
		{"a chat", "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm \",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}\n\ndata: [DONE]\n\n", `Helhm f{"a":1}`},
		{"messages", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n", "Hi{}"},
		{"responses tell the whole once more", "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\r\n\r\n" +
			"data: {\"type\":\"response.output_text.done\",\"text\":\"Hi\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"content\":[{\"text\":\"Hi\"}]}]}}\n\n", "Hi"},
		{"completions, cut", "data: {\"choices\":[{\"text\":\"once \"}]}\n\ndata: {\"choices\":[{\"te", "once "},
		{"thoughts under two names", `data: {"choices":[{"delta":{"content":"","reasoning":"hm","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning":" so","reasoning_details":[{"type":"reasoning.text","text":" so"}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning":null,"reasoning_details":[{"type":"reasoning.text","text":"!"}]}}]}` + "\n\n", "hm so!"},
		{"the answer so far", `data: {"choices":[{"message":{"content":"Hi"},"delta":{"content":"Hi"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":" you"},"message":{"content":"Hi you"}}]}` + "\n\n", "Hi you"},
		{"an answer in one event", `data: {"choices":[{"message":{"content":"Hi"}}]}` + "\n\n", "Hi"},
		{"blocks beside the text", `data: {"choices":[{"delta":{"content_blocks":[{"index":0,"delta":{"thinking":"hm "}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"Hi","content_blocks":[{"index":1,"delta":{"text":"Hi"}}]}}]}` + "\n\n", "hm Hi"},
		{"a thought and a text in one piece", `data: {"choices":[{"delta":{"content":"Hi","content_blocks":[{"index":0,"delta":{"thinking":"hm "}},{"index":1,"delta":{"text":"Hi"}}]}}]}` + "\n\n", "hm Hi"},
		{"nothing", "", ""},
		{"no events", "<html>", ""},
	} {
		if got := tokens.EventText([]byte(c.events)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
