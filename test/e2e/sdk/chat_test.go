package sdk

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

func TestChat(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	a, err := c.Chat.Completions.New(t.Context(), ask("Hello there"))
	if err != nil {
		t.Fatal(err)
	}
	begins(t, a.Choices[0].Message.Content, `You said: "Hello there"`)
	if u := a.Usage; u.PromptTokens != 2 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage %s", u.RawJSON())
	}
}

// A stream accumulates to what the whole answer would have been.
func TestChatStream(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	q := ask("Tell me a story")
	whole, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	acc, _ := accumulate(t, c, q)
	if acc.Choices[0].Message.Content != whole.Choices[0].Message.Content || acc.Usage.TotalTokens != whole.Usage.TotalTokens {
		t.Errorf("%q and %d tokens, want %q and %d", acc.Choices[0].Message.Content, acc.Usage.TotalTokens, whole.Choices[0].Message.Content, whole.Usage.TotalTokens)
	}
}

// accumulate reads a stream to its end; every chunk must fit to those before it.
func accumulate(t *testing.T, c openai.Client, q openai.ChatCompletionNewParams, opts ...option.RequestOption) (openai.ChatCompletionAccumulator, []openai.ChatCompletionChunk) {
	t.Helper()
	s := c.Chat.Completions.NewStreaming(t.Context(), q, opts...)
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	var chunks []openai.ChatCompletionChunk
	for s.Next() {
		chunk := s.Current()
		chunks = append(chunks, chunk)
		if !acc.AddChunk(chunk) {
			t.Errorf("the chunk does not fit to those before it: %s", chunk.RawJSON())
		}
	}
	if err := s.Err(); err != nil {
		t.Fatalf("stream: %v", err)
	}
	if len(acc.Choices) == 0 {
		t.Fatal("the stream had no choices")
	}
	return acc, chunks
}

// A stream that dies goes on at the next target: one id, one text, one usage, and
// a mark that only those see who look for it.
func TestChatStreamContinues(t *testing.T) {
	t.Parallel()
	upstreamOnly(t)
	c := newClient(t, option.WithHeaderDel("x-gateway-provider"))
	provider := os.Getenv("SLUICE_PROVIDER")
	config := fmt.Sprintf(`{"strategy":{"mode":"fallback"},"continue_stream":true,"targets":[{"provider":%q,"override_params":{"model":"fault:cut-stream@4"}},{"provider":%q}]}`, provider, provider)
	q := ask("Tell me a story")
	q.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	acc, chunks := accumulate(t, c, q, option.WithHeader("x-gateway-config", config))
	marks, usages, ids := 0, 0, map[string]bool{}
	for _, chunk := range chunks {
		ids[chunk.ID] = true
		if strings.Contains(chunk.RawJSON(), `"stream_continued"`) {
			marks++
		}
		if chunk.JSON.Usage.Valid() {
			usages++
		}
	}
	if marks != 1 || usages != 1 || len(ids) != 1 {
		t.Errorf("%d marks, %d usages, %d ids", marks, usages, len(ids))
	}
	// The second target repeats what it was told: to go on.
	begins(t, acc.Choices[0].Message.Content, `You said: "Tell You said: "Continue your last message`)
	if acc.Choices[0].FinishReason != "stop" {
		t.Errorf("it ends because of %q", acc.Choices[0].FinishReason)
	}
}

func tools() []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, name := range []string{"get_weather", "get_time"} {
		out = append(out, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: name, Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
		}))
	}
	return out
}

// Tools are called in parallel, whole and streamed alike, and their results go back.
func TestTools(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	q := ask("Please use get_weather and get_time for Paris")
	q.Tools = tools()
	whole, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	streamed, _ := accumulate(t, c, q)
	for _, choice := range []openai.ChatCompletionChoice{whole.Choices[0], streamed.Choices[0]} {
		calls := choice.Message.ToolCalls
		if len(calls) != 2 || calls[0].Function.Name != "get_weather" || calls[1].Function.Name != "get_time" || choice.FinishReason != "tool_calls" {
			t.Fatalf("%s: calls %+v", choice.FinishReason, calls)
		}
		for _, call := range calls {
			var args struct{ City string }
			if err := json.Unmarshal([]byte(call.Function.Arguments), &args); err != nil || !strings.Contains(args.City, "Paris") {
				t.Errorf("arguments %q: %v", call.Function.Arguments, err)
			}
		}
	}
	q.Messages = append(q.Messages, whole.Choices[0].Message.ToParam(), openai.ToolMessage("it rains", whole.Choices[0].Message.ToolCalls[0].ID), openai.ToolMessage("it is noon", whole.Choices[0].Message.ToolCalls[1].ID))
	final, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	begins(t, final.Choices[0].Message.Content, "The tool said: it is noon")
}

func TestJSONSchema(t *testing.T) {
	t.Parallel()
	only(t, "upstream", "anthropic", "gemini", "aimock") // in other shapes aimock does not see the schema
	c := newClient(t)
	q := ask("Paris in May")
	q.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
		JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "weather", Strict: param.NewOpt(true), Schema: map[string]any{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}, "rainy": map[string]any{"type": "boolean"}},
		}},
	}}
	a, err := c.Chat.Completions.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		City  string
		Rainy bool
	}
	if err := json.Unmarshal([]byte(a.Choices[0].Message.Content), &got); err != nil || got.City != "Paris in May" || !got.Rainy {
		t.Errorf("%q: %v", a.Choices[0].Message.Content, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	stranger := newClient(t, option.WithAPIKey("sk-nobody-has-this-key-0000000000"))
	_, err := stranger.Chat.Completions.New(t.Context(), ask("Hello"))
	refused(t, err, 401)
	c := newClient(t)
	for _, status := range []int{400, 401, 404, 429, 500} {
		q := ask("Hello")
		q.Model = fmt.Sprintf("fault:status@%d", status)
		_, err := c.Chat.Completions.New(t.Context(), q)
		if e := refused(t, err, status); e.Message == "" {
			t.Errorf("%d without a message: %s", status, e.RawJSON())
		}
	}
}

// A stream that breaks off is an error for the reader, not a short answer.
func TestStreamThatDies(t *testing.T) {
	t.Parallel()
	upstreamOnly(t)
	c := newClient(t)
	q := ask("Hello there")
	q.Model = "fault:cut-stream@3"
	s := c.Chat.Completions.NewStreaming(t.Context(), q)
	n := 0
	for s.Next() {
		n++
	}
	if s.Err() == nil || n == 0 {
		t.Errorf("%d chunks, then %v", n, s.Err())
	}
}
