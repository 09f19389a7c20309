package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/responses"
	"sluice/internal/kernel/llm"
)

// What a model draws beside the text of a chat, as at OpenRouter, comes to callers of other
// surfaces, in a stream and whole.
func TestPicturesOfChats(t *testing.T) {
	t.Parallel()
	const images = `"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]`
	upstream := openai.Dialect().Upstreams[llm.ChatComplete]
	for name, c := range map[string]struct {
		surface llm.Endpoint
		client  dialect.Client
		want    string
	}{
		"responses": {llm.CreateModelResponse, responses.Client(), `"type":"image_generation_call","status":"completed","result":"aGk="`},
		"messages":  {llm.Messages, anthropic.Dialect().Clients[llm.Messages], `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`},
	} {
		incoming := &dialect.Incoming{Call: &llm.Call{Surface: c.surface}}
		a := &dialect.ResponseContext{Call: incoming.Call, ID: "0123456789abcdef0123456789"}
		incoming.Body = []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi",` + images + `}}]}`)
		r, err := upstream.DecodeResponse(incoming)
		if err != nil {
			t.Fatal(err)
		}
		if out := c.client.EncodeResponse(nil, r, a); !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %s", name, out)
		}
		var out []byte
		enc, dec := c.client.NewEncoder(a), upstream.NewDecoder(incoming)
		stream := `data: {"choices":[{"index":0,"delta":{"content":"hi",` + images + `}}]}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		if err := dec.Feed([]byte(stream), func(ev *llm.Event) { out = enc.Append(out, ev) }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %s", name, out)
		}
	}
}
