package ai21_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/ai21"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var target = &dialect.Target{Provider: "ai21", Model: "m"}

func upstream() dialect.Upstream { return ai21.Dialect().Upstreams[llm.ChatComplete] }

var chat = dialecttest.Chat{Client: openai.Dialect().Clients[llm.ChatComplete], Upstream: upstream(), To: target}

type request struct {
	name, call, want string
	dropped          []string
}

func checkRequests(t *testing.T, cases []request) {
	t.Helper()
	for _, c := range cases {
		chat.Request(t, c.name, c.call, c.want, c.dropped)
	}
}

type responseCase struct {
	name, body string
	want       llm.Response
}

func checkResponses(t *testing.T, cases []responseCase) {
	t.Helper()
	for _, c := range cases {
		chat.Response(t, c.name, c.body, &c.want)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	checkRequests(t, []request{
		{
			"parameters", `"max_tokens":5,"temperature":0.5,"top_p":0.9,"top_k":3,"n":2,"stop":"a","presence_penalty":1,"frequency_penalty":0.5,"minTokens":1,"seed":1,"response_format":{"type":"json_object"}`,
			`{"messages":[{"text":"x","role":"user"}],"numResults":2,"temperature":0.5,"topP":0.9,"topKReturn":3,"minTokens":1,"maxTokens":5,"stopSequences":["a"],"presencePenalty":{"scale":1},"frequencyPenalty":{"scale":0.5}}`,
			[]string{"response_format", "seed"},
		},
		{
			"a conversation", `"messages":[{"role":"system","content":"a"},{"role":"user","content":"x"},{"role":"developer","content":"b"},{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"text","text":"z"}]}],"tools":[{"type":"function","function":{"name":"f"}}]`,
			`{"system":"a\nb","messages":[{"text":"x","role":"user"},{"text":"y\nz","role":"assistant"}]}`, []string{"tools[0]"},
		},
	})
	chat.Refusals(t, map[string]string{
		dialecttest.ToolConversation: "messages[1]",
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`:                "messages[0].content[0]",
		`{"role":"system","content":[{"type":"text","text":"a"},{"type":"file","file":{"file_id":"f"}}]}`: "messages[0].content[1]",
	})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	checkResponses(t, []responseCase{
		{"texts", `{"id":"3b5a","outputs":[{"text":"Hi","role":"assistant","finishReason":{"reason":"stop","length":null,"sequence":null}},{"text":"","finishReason":{"reason":"length","length":5}}]}`,
			llm.Response{ID: "3b5a", Choices: []llm.Choice{
				{Finish: llm.FinishStop, Raw: "stop", Parts: []llm.Part{{Text: "Hi"}}},
				{Index: 1, Finish: llm.FinishLength, Raw: "length", Parts: []llm.Part{{}}},
			}}},
		{"a number for an id", `{"id":12,"outputs":[{"text":"Hi"}]}`, llm.Response{ID: "12", Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: "Hi"}}}}}},
	})
	for _, body := range []string{``, `{"detail":"x"}`} {
		if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(body)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestAnswersAreToldAsStreams(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"1","outputs":[{"text":"Grüße","finishReason":{"reason":"stop"}}]}`)
	events := dialecttest.SplitEverywhere(t, body, func() dialect.EventDecoder { return upstream().NewDecoder(&dialect.Incoming{To: target}) })
	want := llm.Response{ID: "1", Choices: []llm.Choice{{Finish: llm.FinishStop, Raw: "stop", Parts: []llm.Part{{Text: "Grüße"}}}}}
	for _, d := range dialecttest.DiffResponses(&want, dialecttest.ResponseOf(events)) {
		t.Error(d)
	}
	if _, err := dialecttest.Read(upstream().NewDecoder(&dialect.Incoming{To: target}), []byte("what?")); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("garbage: %v", err)
	}
}

func TestUnified(t *testing.T) {
	t.Parallel()
	checkUnified(t, ai21.Dialect(), []exchange{
		{
			llm.Complete, `{"model":"x","prompt":"once","max_tokens":5,"n":2,"echo":true}`, `{"prompt":"once","numResults":2,"maxTokens":5}`, []string{"echo"},
			`{"id":"7","prompt":{"text":"once","tokens":[{},{}]},"completions":[{"data":{"text":" upon","tokens":[{}]},"finishReason":{"reason":"length"}},{"data":{"text":"x","tokens":[{},{}]},"finishReason":{"reason":"endoftext"}}]}`, nil,
			`"id":"7","object":"text_completion","created":9,"model":"m","choices":[{"text":" upon","index":0,"logprobs":null,"finish_reason":"length"},{"text":"x","index":1,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}}`,
			llm.Usage{InputTokens: 2, OutputTokens: 3, TotalTokens: 5, Reported: true},
		},
		{
			llm.Embed, `{"input":["a","b"],"encoding_format":"base64","type":"query","user":"u"}`, `{"texts":["a","b"],"type":"query"}`, []string{"user"},
			`{"id":"1","results":[{"embedding":[1]},{"embedding":[-0.5]}]}`, nil,
			`"data":[{"object":"embedding","index":0,"embedding":"AACAPw=="},{"object":"embedding","index":1,"embedding":"AAAAvw=="}],"model":"m","usage":{"prompt_tokens":0,"total_tokens":0}}`, llm.Usage{},
		},
	})
}

type exchange struct {
	ep         llm.Endpoint
	body, want string
	dropped    []string
	response   string   // of the provider
	more       []string // and to further requests
	wantSuffix string   // the end of what the caller gets
	usage      llm.Usage
}

func checkUnified(t *testing.T, d *dialect.Dialect, cases []exchange) {
	t.Helper()
	for _, c := range cases {
		u := d.Unified[c.ep]
		r := &dialect.Request{Endpoint: c.ep, Body: []byte(c.body)}
		out, err := u.EncodeRequest(context.Background(), r, target)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		sent := string(out.Body)
		incoming := &dialect.Incoming{Body: []byte(c.response), Created: 9, To: target, Sent: r}
		for _, b := range out.More {
			sent += " " + string(b)
		}
		for _, b := range c.more {
			incoming.More = append(incoming.More, []byte(b))
		}
		if sent != c.want || !slices.Equal(out.Dropped, c.dropped) {
			t.Errorf("%s: sent\n%s\nwant\n%s\nlost %q", c.ep, sent, c.want, out.Dropped)
		}
		a, err := u.TranslateResponse(incoming)
		if err != nil {
			t.Errorf("%s: %v", c.response, err)
			continue
		}
		if !strings.HasSuffix(string(a.Body), c.wantSuffix) || a.Usage != c.usage {
			t.Errorf("%s: answered\n%s\nwant\n%s\n%+v", c.ep, a.Body, c.wantSuffix, a.Usage)
		}
		if _, err := u.TranslateResponse(&dialect.Incoming{Body: []byte(`{}`), To: target, Sent: r}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s of nothing: %v", c.ep, err)
		}
		if _, err := u.EncodeRequest(context.Background(), &dialect.Request{Body: []byte(`{}`)}, target); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s of nothing: %v", c.ep, err)
		}
	}
}
