package palm_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/palm"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var target = &dialect.Target{Provider: "palm", Model: "m"}

func upstream() dialect.Upstream { return palm.Dialect().Upstreams[llm.ChatComplete] }

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
			"parameters", `"max_completion_tokens":5,"temperature":0.5,"top_p":0.9,"top_k":3,"n":2,"stop":["a"],"seed":1,"context":"be brief","examples":[]`,
			`{"prompt":{"context":"be brief","examples":[],"messages":[{"author":"user","content":"x"}]},"temperature":0.5,"topP":0.9,"topK":3,"candidateCount":2,"maxOutputTokens":5,"stopSequences":["a"]}`, []string{"seed"},
		},
		{
			"a conversation", `"messages":[{"role":"developer","content":"a"},{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"tool_choice":"none"`,
			`{"prompt":{"messages":[{"author":"system","content":"a"},{"author":"user","content":"x"},{"author":"assistant","content":"y"}]}}`, nil,
		},
	})
	chat.Refusals(t, map[string]string{dialecttest.ToolConversation: "messages[1]"})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	checkResponses(t, []responseCase{
		{"a text", `{"candidates":[{"author":"1","content":"Hi"}],"messages":[{"author":"0","content":"x"}]}`, llm.Response{Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: "Hi"}}}}}},
		{"held back", `{"filters":[{"reason":"SAFETY"}]}`, llm.Response{Choices: []llm.Choice{{Finish: llm.FinishFilter, Raw: "SAFETY"}}}},
	})
	events, err := dialecttest.Read(upstream().NewDecoder(&dialect.Incoming{To: target}), []byte(`{"candidates":[{"content":"Hi"}]}`))
	if r := dialecttest.ResponseOf(events); err != nil || r.Choices[0].Parts[0].Text != "Hi" {
		t.Errorf("as a stream: %+v, %v", r, err)
	}
	if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{}`)}); !fault.Has(err, fault.UpstreamInvalid) {
		t.Error(err)
	}
}

func TestUnified(t *testing.T) {
	t.Parallel()
	checkUnified(t, palm.Dialect(), []exchange{
		{
			llm.Complete, `{"prompt":["once"],"n":2}`, `{"prompt":{"text":"once"},"candidateCount":2}`, nil,
			`{"candidates":[{"output":" upon","safetyRatings":[]},{"output":"x"}]}`, nil,
			`"choices":[{"text":" upon","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"x","index":1,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, llm.Usage{},
		},
		{
			llm.Complete, `{"prompt":"x"}`, `{"prompt":{"text":"x"}}`, nil, `{"filters":[{"reason":"SAFETY"}]}`, nil,
			`"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"content_filter"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, llm.Usage{},
		},
		{
			llm.Embed, `{"input":["a","b"]}`, `{"text":"a"} {"text":"b"}`, nil, `{"embedding":{"value":[1]}}`, []string{`{"embedding":{"value":[2]}}`},
			`"data":[{"object":"embedding","index":0,"embedding":[1]},{"object":"embedding","index":1,"embedding":[2]}],"model":"m","usage":{"prompt_tokens":0,"total_tokens":0}}`, llm.Usage{},
		},
	})
	if _, err := palm.Dialect().Unified[llm.Embed].EncodeRequest(context.Background(), &dialect.Request{Body: []byte(`{"input":[]}`)}, target); fault.From(err).Param != "input" {
		t.Errorf("no texts: %v", err)
	}
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
