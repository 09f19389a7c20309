package sdk

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
)

// What the model thought goes back to it with its signature, whole and streamed alike.
func TestMessagesThinking(t *testing.T) {
	t.Parallel()
	only(t, "anthropic")
	c := newAnthropic(t)
	q := message("Please use get_weather for Paris")
	q.MaxTokens, q.Thinking = 4096, anthropic.ThinkingConfigParamOfEnabled(2048)
	q.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
		Properties: map[string]any{"city": map[string]any{"type": "string"}},
	}, "get_weather")}
	whole, err := c.Messages.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*anthropic.Message{whole, gatherMessage(t, c, q)} {
		if thought := m.Content[0].AsThinking(); !strings.HasPrefix(thought.Thinking, "The user says: Please") || thought.Signature == "" {
			t.Fatalf("thoughts %s", m.RawJSON())
		}
		next := q
		next.Messages = append(slices.Clip(q.Messages), m.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock(uses(m)[0].ID, "it rains", false)))
		final, err := c.Messages.New(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if text := final.Content[len(final.Content)-1].Text; text != "The tool said: it rains. I remember my thoughts." {
			t.Errorf("%q", text)
		}
	}
}

func TestMessagesImages(t *testing.T) {
	t.Parallel()
	only(t, "anthropic", "gemini")
	c := newAnthropic(t)
	q := message("What is it?")
	data := base64.StdEncoding.EncodeToString([]byte("not really a picture"))
	q.Messages[0].Content = append(q.Messages[0].Content, anthropic.NewImageBlockBase64("image/png", data))
	a, err := c.Messages.New(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	begins(t, a.Content[0].Text, `You said: "What is it?" and showed image/png of 20 bytes.`)
}
