package sdk

import (
	"net/http"
	"os"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// Anthropic's client counts what any provider would: that provider where it counts, else
// the gateway, which says so.
func TestMessagesCountTokens(t *testing.T) {
	t.Parallel()
	only(t, "anthropic", "upstream")
	c := newAnthropic(t)
	q := message("one two three")
	var r *http.Response
	n, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: q.Model, Messages: q.Messages}, anthropicoption.WithResponseInto(&r))
	if err != nil {
		t.Fatal(err)
	}
	want, estimated := int64(3), "" // the provider counts words
	if os.Getenv("SLUICE_PEER") == "upstream" {
		want, estimated = 3+4+3, "true" // gpt-4o-mini: three words, a message, the answer's beginning
	}
	if n.InputTokens != want || r.Header.Get("x-gateway-estimated") != estimated {
		t.Errorf("%s, estimated %q", n.RawJSON(), r.Header.Get("x-gateway-estimated"))
	}
}

// OpenAI's client counts a response for providers that have none.
func TestResponsesCountTokens(t *testing.T) {
	t.Parallel()
	only(t, "anthropic", "gemini")
	c := newClient(t)
	var r *http.Response
	n, err := c.Responses.InputTokens.Count(t.Context(), responses.InputTokenCountParams{
		Model: openai.String(model), Instructions: openai.String("one two three"),
		Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("one two three")},
	}, option.WithResponseInto(&r))
	if err != nil || n.InputTokens != 2*(3+4)+3 || n.Object != "response.input_tokens" || r.Header.Get("x-gateway-estimated") != "true" {
		t.Errorf("%+v: %v", n, err)
	}
}
