package sdk

import (
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
)

// Clients that know nothing of the gateway but its address and a key of it: where their
// calls go is in the default config of the key.
func TestStock(t *testing.T) {
	t.Parallel()
	base, key := os.Getenv("SLUICE_BASE"), os.Getenv("SLUICE_STOCK_KEY")
	if base == "" {
		t.Skip("SLUICE_BASE is not set: run this through go test ./test/e2e")
	}
	one := openai.NewClient(openaioption.WithBaseURL(base), openaioption.WithAPIKey(key), openaioption.WithMaxRetries(0))
	a, err := one.Chat.Completions.New(t.Context(), ask("Hello there"))
	if err != nil {
		t.Fatal(err)
	}
	begins(t, a.Choices[0].Message.Content, `You said: "Hello there"`)
	other := anthropic.NewClient(option.WithBaseURL(strings.TrimSuffix(base, "/v1")), option.WithAPIKey(key), option.WithMaxRetries(0))
	m, err := other.Messages.New(t.Context(), message("Hello there"))
	if err != nil {
		t.Fatal(err)
	}
	begins(t, m.Content[0].Text, `You said: "Hello there"`)
}
