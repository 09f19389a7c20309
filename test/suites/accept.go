package suites

import (
	"encoding/json"
	"strings"

	"sluice/internal/test/upstream"
)

// Accept is the script of a provider that takes any request. It answers with the least
// that its APIs allow: an object, or where a stream was asked for a stream.
func Accept(s upstream.Seen) *upstream.Response {
	r := upstream.JSON(200, []byte(object(s.Path())))
	if streams(s.Body) {
		r = upstream.Stream(events(s.Path())...)
	}
	return &r
}

func streams(body []byte) bool {
	var q struct{ Stream bool }
	return json.Unmarshal(body, &q) == nil && q.Stream
}

// objects are the answers of endpoints, by what their paths end in.
var objects = []struct{ path, body string }{
	{"/chat/completions", `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`},
	{"/completions", `{"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m","choices":[{"index":0,"text":"Hi","logprobs":null,"finish_reason":"stop"}]}`},
	{"/embeddings", `{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`},
	{"/images/generations", `{"created":1700000000,"data":[{"b64_json":"aGk="}]}`},
	{"/images/edits", `{"created":1700000000,"data":[{"b64_json":"aGk="}]}`},
	{"/responses", `{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"m","output":[],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}`},
	{"/messages/count_tokens", `{"input_tokens":1}`},
	{"/messages", `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`},
	{"/files", `{"id":"file_id","type":"file","object":"file","filename":"a.txt","mime_type":"text/plain","purpose":"batch","size_bytes":1,"bytes":1,"created_at":"2026-01-02T03:04:05Z","downloadable":false,"data":[],"has_more":false}`},
	{"/files/file_id", `{"id":"file_id","type":"file","object":"file","filename":"a.txt","mime_type":"text/plain","purpose":"batch","size_bytes":1,"bytes":1,"created_at":"2026-01-02T03:04:05Z","downloadable":false}`},
}

// object is the answer at a path; most clients take an empty object for any.
func object(path string) string {
	for _, o := range objects {
		if strings.HasSuffix(path, o.path) {
			return o.body
		}
	}
	return `{}`
}

// events are the stream at a path.
func events(path string) []string {
	if strings.HasSuffix(path, "/messages") {
		return []string{
			"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n",
			"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}` + "\n\n",
			"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n",
		}
	}
	return []string{"data: {}\n\n", "data: [DONE]\n\n"}
}
