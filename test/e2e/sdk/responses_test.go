package sdk

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

func question() responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hello there")}}
}

// A response is the same whole and streamed.
func TestResponses(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	whole, err := c.Responses.New(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	begins(t, whole.OutputText(), `You said: "Hello there"`)
	s := c.Responses.NewStreaming(t.Context(), question())
	var text string
	var final responses.Response
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.completed":
			final = e.Response
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if text != whole.OutputText() || final.OutputText() != text || final.Usage.TotalTokens != whole.Usage.TotalTokens {
		t.Errorf("streamed %q and %d tokens, want %q and %d", text, final.Usage.TotalTokens, whole.OutputText(), whole.Usage.TotalTokens)
	}
}

func TestStoredResponse(t *testing.T) {
	t.Parallel()
	upstreamOnly(t)
	c := newClient(t)
	made, err := c.Responses.New(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Responses.Get(t.Context(), made.ID, responses.ResponseGetParams{}); err != nil || again.OutputText() != made.OutputText() {
		t.Errorf("read again: %v", err)
	}
	if err := c.Responses.Delete(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = c.Responses.Get(t.Context(), made.ID, responses.ResponseGetParams{})
	refused(t, err, 404)
}
