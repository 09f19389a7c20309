package workersai_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/workersai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

func TestUnifiedRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep         llm.Endpoint
		body, want string
		dropped    []string
	}{
		{llm.Embed, `{"model":"m","input":["a","b"],"encoding_format":"base64","dimensions":5}`, `{"text":["a","b"]}`, []string{"dimensions"}},
		{llm.Complete, `{"prompt":"hi","max_tokens":5,"echo":true}`, `{"prompt":"\n\nHuman: hi\n\nAssistant:","max_tokens":5}`, []string{"echo"}},
		{llm.Complete, `{"prompt":"hi","raw":true}`, `{"prompt":"hi","raw":true}`, nil},
		{
			llm.ImageGenerate, `{"prompt":"a cat","steps":8,"size":"1024x768","seed":1,"negative_prompt":"dogs","n":1,"response_format":"b64_json","quality":"hd"}`,
			`{"prompt":"a cat","num_steps":8,"steps":8,"width":1024,"height":768,"negative_prompt":"dogs","seed":1}`, []string{"quality"},
		},
		{llm.ImageGenerate, `{"prompt":"a cat","size":"auto","response_format":"url","n":2}`, `{"prompt":"a cat"}`, []string{"size", "response_format", "n"}},
	} {
		out, err := workersai.Dialect().Unified[c.ep].EncodeRequest(context.Background(), &dialect.Request{Body: []byte(c.body)}, target)
		if err != nil {
			t.Fatal(err)
		}
		if string(out.Body) != c.want || !slices.Equal(out.Dropped, c.dropped) {
			t.Errorf("%s: sent\n%s\nwant\n%s\nlost %q", c.ep, out.Body, c.want, out.Dropped)
		}
	}
	for ep, param := range map[llm.Endpoint]string{llm.Embed: "input", llm.Complete: "prompt", llm.ImageGenerate: "prompt"} {
		if _, err := workersai.Dialect().Unified[ep].EncodeRequest(context.Background(), &dialect.Request{Body: []byte(`{}`)}, target); fault.From(err).Param != param {
			t.Errorf("%s of nothing: %v", ep, err)
		}
	}
}

func TestUnifiedAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ep               llm.Endpoint
		sent, body, want string
		header           wire.Header
	}{
		{
			llm.Embed, `{"encoding_format":"base64"}`, `{"result":{"shape":[2,1],"data":[[1],[-0.5]],"pooling":"mean"},"success":true}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPw=="},{"object":"embedding","index":1,"embedding":"AAAAvw=="}],"model":"@cf/meta/llama-3.3-70b-instruct-fp8-fast","usage":{"prompt_tokens":0,"total_tokens":0}}`, nil,
		},
		{llm.ImageGenerate, ``, `{"result":{"image":"/9j/4AAQ"},"success":true}`, `{"created":9,"data":[{"b64_json":"/9j/4AAQ"}]}`, nil},
		{llm.ImageGenerate, ``, "\x89PNG", `{"created":9,"data":[{"b64_json":"iVBORw=="}]}`, wire.Header{{Name: "content-type", Value: "image/png"}}},
	} {
		a, err := workersai.Dialect().Unified[c.ep].TranslateResponse(&dialect.Incoming{Body: []byte(c.body), Header: c.header, Created: 9, To: target, Sent: &dialect.Request{Body: []byte(c.sent)}})
		if err != nil {
			t.Fatal(err)
		}
		if string(a.Body) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.ep, a.Body, c.want)
		}
	}
	incoming := &dialect.Incoming{Body: []byte(`{"result":{"response":" you","usage":{"prompt_tokens":1,"completion_tokens":2}},"success":true}`), Created: 9, To: target}
	a, err := workersai.Dialect().Unified[llm.Complete].TranslateResponse(incoming)
	if err != nil || !strings.Contains(string(a.Body), `"choices":[{"text":" you","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`) {
		t.Errorf("%s, %v", a.Body, err)
	}
	for _, ep := range []llm.Endpoint{llm.Embed, llm.ImageGenerate, llm.Complete} {
		for _, body := range []string{`{}`, `{"result":{"choices":[]}}`} {
			incoming := &dialect.Incoming{Body: []byte(body), To: target, Sent: &dialect.Request{}}
			if _, err := workersai.Dialect().Unified[ep].TranslateResponse(incoming); !fault.Has(err, fault.UpstreamInvalid) {
				t.Errorf("%s %s: %v", ep, body, err)
			}
		}
	}
}
