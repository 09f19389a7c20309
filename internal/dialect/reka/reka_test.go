package reka_test

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/reka"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var target = &dialect.Target{Provider: "reka", Model: "m"}

func upstream() dialect.Upstream { return reka.Dialect().Upstreams[llm.ChatComplete] }

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
			"parameters", `"max_tokens":5,"temperature":0.5,"top_p":0.9,"top_k":3,"stop":"a","seed":1,"n":2`,
			`{"model_name":"m","conversation_history":[{"type":"human","text":"x"}],"temperature":0.5,"runtime_top_p":0.9,"runtime_top_k":3,"random_seed":1,"request_output_len":5,"stop_words":["a"]}`, []string{"n"},
		},
		{
			"turns", `"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},{"role":"assistant","content":"d"}]`,
			`{"model_name":"m","conversation_history":[{"type":"human","text":"Go on."},{"type":"model","text":"s"},{"type":"human","text":"a"},{"type":"model","text":"Go on."},{"type":"human","text":"b"},{"type":"model","text":"c"},{"type":"human","text":"Go on."},{"type":"model","text":"d"}]}`, nil,
		},
		{
			"an image", `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO","detail":"low"}},{"type":"text","text":"c"}]}]`,
			`{"model_name":"m","conversation_history":[{"type":"human","text":"a","media_url":"data:image/png;base64,iVBO"},{"type":"model","text":"b"},{"type":"human","text":"c"}]}`, []string{"messages[2].content[0].image_url.detail"},
		},
	})
	const image = `{"type":"image_url","image_url":{"url":"https://x"}}`
	chat.Refusals(t, map[string]string{dialecttest.ToolConversation: "messages[1]", `{"role":"user","content":[` + image + `,` + image + `]}`: "messages[0].content[1]"})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	checkResponses(t, []responseCase{
		{
			"a text", `{"type":"model","text":" Hi","finish_reason":"stop","metadata":{"input_tokens":12,"generated_tokens":3}}`,
			llm.Response{
				Choices: []llm.Choice{{Finish: llm.FinishStop, Raw: "stop", Parts: []llm.Part{{Text: " Hi"}}}},
				Usage:   llm.Usage{InputTokens: 12, OutputTokens: 3, TotalTokens: 15, Reported: true},
			},
		},
		{"a long text", `{"text":"x","finish_reason":"length"}`, llm.Response{Choices: []llm.Choice{{Finish: llm.FinishLength, Raw: "length", Parts: []llm.Part{{Text: "x"}}}}}},
	})
	if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{"detail":{"msg":"no"}}`), To: target}); !fault.Has(err, fault.UpstreamFailed) || fault.From(err).Public != `reka error: {"msg":"no"}` {
		t.Errorf("an error with status 200: %v", err)
	}
	if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{"text":5}`), To: target}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Error(err)
	}
	events, err := dialecttest.Read(upstream().NewDecoder(&dialect.Incoming{To: target}), []byte(`{"text":"Hi"}`))
	if r := dialecttest.ResponseOf(events); err != nil || r.Choices[0].Parts[0].Text != "Hi" {
		t.Errorf("as a stream: %+v, %v", r, err)
	}
}
