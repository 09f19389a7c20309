package tokens_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// The counts are never below what the vocabulary says of the whole text with the figures of
// the API, and never above the bound by bytes.
func TestCountRequestIsABound(t *testing.T) {
	t.Parallel()
	codecs := map[string]tokenizer.Encoding{"gpt-4o-mini": tokenizer.O200kBase, "gpt-5": tokenizer.O200kBase, "gpt-4-turbo": tokenizer.Cl100kBase, "gpt-3.5-turbo": tokenizer.Cl100kBase}
	byModel := map[string]tokenizer.Codec{}
	for model, name := range codecs {
		codec, err := tokenizer.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		byModel[model] = codec
	}
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom([]string{"gpt-4o-mini", "gpt-5", "gpt-4-turbo", "gpt-3.5-turbo"}).Draw(t, "model")
		type message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
			Name    string `json:"name,omitempty"`
		}
		var list []message
		minTokens := int64(3)
		count := func(s string) int64 {
			ids, _, err := byModel[model].Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			return int64(len(ids))
		}
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			m := message{rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role"), "", rapid.SampledFrom([]string{"", "", "ann", "x y"}).Draw(t, "name")}
			m.Content = strings.ToValidUTF8(strings.Repeat(anyText().Draw(t, "text"), rapid.SampledFrom([]int{1, 1, 40, 300}).Draw(t, "times")), "")
			m.Content = m.Content[:min(len(m.Content), 6<<10)]
			m.Content = strings.ToValidUTF8(m.Content, "")
			list = append(list, m)
			minTokens += 4 + count(m.Content)
			if m.Name != "" {
				minTokens += 1 + count(m.Name)
			}
		}
		body, err := json.Marshal(map[string]any{"model": model, "messages": list, "max_tokens": 3})
		if err != nil {
			t.Fatal(err)
		}
		got, known := counter.CountRequest(llm.ChatComplete, body, model)
		if known != (len(body) <= tokens.CountMax) {
			t.Fatalf("known %v of %d bytes", known, len(body))
		}
		if maxTokens := tokens.MaxRequestTokens(llm.ChatComplete, body, model); known && (got < minTokens || got > maxTokens) {
			t.Fatalf("%d, want from %d to %d", got, minTokens, maxTokens)
		}
	})
}

// What the count is not certain of is left to the bound.
func TestCountRequestKnowsItsLimits(t *testing.T) {
	t.Parallel()
	const messages = `"messages":[{"role":"user","content":"Say hi."}]`
	for _, c := range []struct {
		ep          llm.Endpoint
		model, body string
		want        int64 // 0: not known
	}{
		{llm.ChatComplete, "gpt-4o-mini", `{"model":"gpt-4o-mini","max_tokens":3,` + messages + `}`, 3 + 4 + 3},
		{llm.ChatComplete, "gpt-4o", `{"messages":[{"role":"user","content":[{"type":"text","text":"Say hi."}]}]}`, 3 + 4 + 3 + 1},
		{llm.ChatComplete, "gpt-5", `{` + messages + `}`, 3 + 4 + 3 + 16},
		{llm.CreateModelResponse, "gpt-4o", `{"input":"Say hi.","max_output_tokens":16}`, 3 + 4 + 3},
		{llm.CreateModelResponse, "gpt-4o", `{"input":[{"role":"user","content":"Say hi."}],"instructions":"Say hi."}`, 3 + 4 + 3 + 4 + 3},
		{llm.Embed, "text-embedding-3-small", `{"input":["Say hi.","Say hi."]}`, 6},
		{llm.Complete, "gpt-3.5-turbo-instruct", `{"prompt":"Say hi."}`, 3},
		{llm.ChatComplete, "claude-sonnet-4-5", `{` + messages + `}`, 0},
		{llm.ChatComplete, "gpt-oss-120b", `{` + messages + `}`, 0},
		{llm.ChatComplete, "gpt-4o-search-preview", `{` + messages + `}`, 0},
		{llm.Messages, "gpt-4o", `{` + messages + `}`, 0},
		{llm.ChatComplete, "gpt-4o", `{` + messages + `,"tools":[]}`, 0},
		{llm.ChatComplete, "gpt-4o", `{` + messages + `,"to\u006fls":[]}`, 0},
		{llm.ChatComplete, "gpt-4o", `{` + messages + `,"unheard_of":1}`, 0},
		{llm.ChatComplete, "gpt-4o", `{"messages":[{"role":"tool","content":"x"}]}`, 0},
		{llm.ChatComplete, "gpt-4o", `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, 0},
		{llm.CreateModelResponse, "gpt-4o", `{"input":[{"type":"item_reference","id":"x"}]}`, 0},
		{llm.CreateModelResponse, "gpt-4o", `{"input":"x","previous_response_id":"resp_1"}`, 0},
		{llm.Embed, "text-embedding-3-small", `{"input":[1,2]}`, 0},
		{llm.ChatComplete, "gpt-4o", `{"messages":[]}`, 0},
		{llm.ChatComplete, "gpt-4o", `{"messages":[{"role":"user","content":"` + strings.Repeat("a ", tokens.CountMax/2) + `"}]}`, 0},
	} {
		if got, known := counter.CountRequest(c.ep, []byte(c.body), c.model); got != c.want || known != (c.want > 0) {
			t.Errorf("%s %.80s: %d, known %v, want %d", c.model, c.body, got, known, c.want)
		}
	}
}

func BenchmarkCountRequest(b *testing.B) {
	for name, unit := range map[string]string{"words": "The quick brown fox jumps over the lazy dog. ", "base64": "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5", "blanks": " ", "capital": "A", "han": "春眠不覺曉"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, (tokens.CountMax-100)/len(unit))
			body := []byte(`{"messages":[{"role":"user","content":"` + text + `"}]}`)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, known := counter.CountRequest(llm.ChatComplete, body, "gpt-4o"); !known {
					b.Fatal("not known")
				}
			}
		})
	}
}
