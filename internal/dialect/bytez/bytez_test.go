package bytez_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bytez"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

var target = &dialect.Target{Provider: "bytez", Model: "m"}

func upstream() dialect.Upstream { return bytez.Dialect().Upstreams[llm.ChatComplete] }

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
		{"parameters", `"max_tokens":5,"temperature":0.5,"top_p":0.9,"stop":"a"`, `{"messages":[{"role":"user","content":"x"}],"params":{"max_new_tokens":5,"temperature":0.5,"top_p":0.9}}`, []string{"stop"}},
		{"a stream", `"stream":true,"messages":[{"role":"developer","content":"a"},{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`, `{"messages":[{"role":"developer","content":"a"},{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"params":{},"stream":true}`, nil},
	})
	chat.Refusals(t, map[string]string{dialecttest.ToolConversation: "messages[1]"})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	hi := llm.Response{Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: "Hi"}}}}}
	checkResponses(t, []responseCase{
		{"a message", `{"error":null,"output":{"role":"assistant","content":"Hi"}}`, hi},
		{"a list", `{"output":{"role":"assistant","content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]}}`, hi},
		{"a text", `{"error":"","output":"Hi"}`, hi},
	})
	if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{"error":"no such model","output":null}`), To: target}); !fault.Has(err, fault.UpstreamFailed) || fault.From(err).Public != "bytez error: no such model" {
		t.Errorf("an error: %v", err)
	}
	for _, body := range []string{`{}`, `Hi`, `{"output":7}`, `{"output":{"content":false}}`} {
		if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(body), To: target}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", body, err)
		}
	}
	to := *target
	to.Stream = true
	for _, incoming := range []dialect.Incoming{
		{Body: []byte("<html>"), Header: wire.Header{{Name: "content-type", Value: "text/html; charset=utf-8"}}},
		{Body: []byte("[]"), Header: wire.Header{{Name: "content-type", Value: "application/json"}}},
		{Body: []byte(" \n")},
	} {
		incoming.To = &to
		if _, err := upstream().DecodeResponse(&incoming); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q for a stream: %v", incoming.Body, err)
		}
	}
	r, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`Hi`), To: &to})
	if err != nil || len(dialecttest.DiffResponses(&hi, r)) > 0 {
		t.Errorf("a bare text: %+v, %v", r, err)
	}
}

func newDecoder() dialect.EventDecoder { return upstream().NewDecoder(&dialect.Incoming{To: target}) }

func TestStreamsAreReadAlikeHoweverCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Hello", "Grüße 日本 😀\n", "half \xf0\x9f\x98"} {
		events := dialecttest.SplitEverywhere(t, []byte(text), newDecoder)
		want := llm.Response{Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: text}}}}}
		for _, d := range dialecttest.DiffResponses(&want, dialecttest.ResponseOf(events)) {
			t.Error(d)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("Grüße 日本 😀"), uint16(4))
	f.Fuzz(func(t *testing.T, text []byte, split uint16) {
		i := min(int(split), len(text))
		events, err := dialecttest.Read(newDecoder(), text[:i], text[i:])
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, e := range events {
			if e.Kind == llm.EventText {
				all += e.Text
			}
		}
		if all != string(text) {
			t.Fatalf("%q came as %q", text, all)
		}
	})
}

// TestNothingIsLostUnsaid holds for every shape that puts messages by conversation.PlainText.
func TestNothingIsLostUnsaid(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(200) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 5)), dialecttest.Options{
				Surface: surface, Without: dialecttest.Images | dialecttest.Files | dialecttest.FileIDs | dialecttest.Audio | dialecttest.Tools | dialecttest.Media,
			})
			out, err := upstream().EncodeCall(context.Background(), c, target)
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			body := strings.NewReplacer(`"params":{`, ``, `"max_new_tokens"`, `"max_tokens"`).Replace(string(out.Body))
			sent, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte(strings.Replace(strings.TrimSuffix(body, "}"), `],}`, `]}`, 1)))
			if err != nil {
				t.Fatalf("%v: %s", err, out.Body)
			}
			diff := dialecttest.Diff(
				dialecttest.Rest(c, out.Dropped), sent,
				dialecttest.Positions, dialecttest.Surface, dialecttest.Model, dialecttest.Stream, onlyContent, dialecttest.Turns, dialecttest.Texts("\n"), dialecttest.Positions,
			)
			if len(diff) > 0 {
				t.Fatalf("%s %d:\n%s\nlost %q\n%s", surface, seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
			}
		}
	}
}

// onlyContent leaves of a call what Bytez has: texts and three parameters. What else there
// is says nothing, or it would have been named as lost.
func onlyContent(c *llm.Call) {
	c.Choice, c.Format = llm.ToolChoice{}, nil
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return p.Name != "temperature" && p.Name != "top_p" && p.Name != llm.MaxTokens && p.Name != llm.MaxCompletionTokens
	})
	for i := range c.Params {
		if c.Params[i].Name == llm.MaxCompletionTokens {
			c.Params[i].Name = llm.MaxTokens
		}
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			if p := &c.Messages[i].Parts[k]; p.Kind == llm.RefusalPart {
				p.Kind = llm.TextPart
			}
		}
	}
}
