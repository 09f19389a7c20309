package sdk

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// newAnthropic is Anthropic's stock client: the gateway key is its API key. Where the
// provider is of another shape, the gateway puts every message into that and back.
func newAnthropic(t *testing.T) anthropic.Client {
	t.Helper()
	base := os.Getenv("SLUICE_BASE")
	if base == "" {
		t.Skip("SLUICE_BASE is not set: run this through go test ./test/e2e")
	}
	return anthropic.NewClient(
		option.WithBaseURL(strings.TrimSuffix(base, "/v1")), option.WithAPIKey(os.Getenv("SLUICE_KEY")), option.WithMaxRetries(0),
		option.WithHeader("x-gateway-provider", os.Getenv("SLUICE_PROVIDER")),
	)
}

func message(content string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: model, MaxTokens: 1024, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(content))},
	}
}

// gatherMessage reads a stream with the client's own accumulator, which insists on the order
// of the events and the places of the blocks.
func gatherMessage(t *testing.T, c anthropic.Client, q anthropic.MessageNewParams) *anthropic.Message {
	t.Helper()
	s := c.Messages.NewStreaming(t.Context(), q)
	defer s.Close()
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatalf("%v: %s", err, s.Current().RawJSON())
		}
	}
	if err := s.Err(); err != nil {
		t.Fatalf("stream: %v", err)
	}
	return &m
}

// A streamed message accumulates to what the whole answer would have been.
func TestMessages(t *testing.T) {
	t.Parallel()
	c := newAnthropic(t)
	q := message("Hello there")
	whole, err := c.Messages.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	streamed := gatherMessage(t, c, q)
	for _, m := range []*anthropic.Message{whole, streamed} {
		if len(m.Content) != 1 || !strings.Contains(m.Content[0].Text, "Hello there") || m.StopReason != anthropic.StopReasonEndTurn || m.Usage.OutputTokens == 0 {
			t.Errorf("%s", m.RawJSON())
		}
	}
	if whole.Content[0].Text != streamed.Content[0].Text || whole.Usage.InputTokens != streamed.Usage.InputTokens {
		t.Errorf("whole %s\nstreamed %s", whole.RawJSON(), streamed.RawJSON())
	}
}

// Tools are called in parallel, whole and streamed alike, and their results go back.
func TestMessagesTools(t *testing.T) {
	t.Parallel()
	c := newAnthropic(t)
	q := message("Please use get_weather and get_time for Paris")
	for _, name := range []string{"get_weather", "get_time"} {
		q.Tools = append(q.Tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"city": map[string]any{"type": "string"}},
		}, name))
	}
	whole, err := c.Messages.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	streamed := gatherMessage(t, c, q)
	for _, m := range []*anthropic.Message{whole, streamed} {
		calls := uses(m)
		if len(calls) != 2 || calls[0].Name != "get_weather" || calls[1].Name != "get_time" || m.StopReason != anthropic.StopReasonToolUse {
			t.Fatalf("calls %s", m.RawJSON())
		}
		var results []anthropic.ContentBlockParamUnion
		for _, u := range calls {
			var args struct{ City string }
			if err := json.Unmarshal(u.Input, &args); err != nil || !strings.Contains(args.City, "Paris") {
				t.Errorf("arguments %s: %v", u.Input, err)
			}
			results = append(results, anthropic.NewToolResultBlock(u.ID, "it is "+u.Name, false))
		}
		next := q
		next.Messages = append(slices.Clip(q.Messages), m.ToParam(), anthropic.NewUserMessage(results...))
		final, err := c.Messages.New(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		begins(t, final.Content[0].Text, "The tool said: it is get_time")
	}
}

func uses(m *anthropic.Message) []anthropic.ToolUseBlock {
	var out []anthropic.ToolUseBlock
	for _, b := range m.Content {
		if u, ok := b.AsAny().(anthropic.ToolUseBlock); ok {
			out = append(out, u)
		}
	}
	return out
}
