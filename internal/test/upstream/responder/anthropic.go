package responder

// What Anthropic answers, whole and as a stream.
// Source: https://docs.anthropic.com/en/api/messages and
// https://docs.anthropic.com/en/docs/build-with-claude/streaming, read 2026-11.
const (
	messageStart = `{"id":"msg_bench","type":"message","role":"assistant","model":"bench","content":[{"type":"text","text":"`
	messageEnd   = `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":100}}`
)

func makeMessageStream() streamed {
	first := framed(messageEvent("message_start", `"message":{"id":"msg_bench","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}`)) +
		framed(messageEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`))
	event := framed(messageEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+SentKeyword+zeros+` lorem "}`))
	last := framed(messageEvent("content_block_stop", `"index":0`)) +
		framed(messageEvent("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":100}`)) +
		framed("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") + "0\r\n\r\n"
	return streamOf("text/event-stream", streamed{first: []byte(first), event: []byte(event), last: []byte(last), usage: []byte(last)})
}

// messageEvent is an event with further members.
func messageEvent(name, members string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"," + members + "}\n\n"
}
