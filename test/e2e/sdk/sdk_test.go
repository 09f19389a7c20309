// Package sdk drives a gateway with the official clients for Go of OpenAI, Anthropic,
// Google, Cohere and Amazon Bedrock. It is a module of its own, so that the product does not depend on the
// clients; package e2e runs it and says by the environment where the gateway is:
//
//	SLUICE_BASE      base URL, ends in /v1
//	SLUICE_KEY       gateway key, sent where the provider's key goes
//	SLUICE_STOCK_KEY another one, with a default config
//	SLUICE_PROVIDER  saved provider of calls that name no model, for example "@peer"
//	SLUICE_PEER      who stands behind it: "upstream" (our own), "anthropic" or "gemini"
//	                 (our own in the shapes of these), "aimock", "aimock-anthropic",
//	                 "aimock-gemini", "aimock-cohere" or "aimock-bedrock"
package sdk

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const model = "gpt-4o-mini"

// newClient is a stock client: the gateway key is its API key.
func newClient(t *testing.T, opts ...option.RequestOption) openai.Client {
	t.Helper()
	base := os.Getenv("SLUICE_BASE")
	if base == "" {
		t.Skip("SLUICE_BASE is not set: run this through go test ./test/e2e")
	}
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(base), option.WithAPIKey(os.Getenv("SLUICE_KEY")), option.WithMaxRetries(0),
		option.WithHeader("x-gateway-provider", os.Getenv("SLUICE_PROVIDER")),
	}, opts...)...)
}

// only skips what not all peers serve.
func only(t *testing.T, peers ...string) {
	t.Helper()
	if peer := os.Getenv("SLUICE_PEER"); !slices.Contains(peers, peer) {
		t.Skip(peer + " does not serve it")
	}
}

// upstreamOnly skips what only our own upstream serves.
func upstreamOnly(t *testing.T) {
	t.Helper()
	only(t, "upstream")
}

func ask(content string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(content)}}
}

// refused checks that an error is the client's own, with a status.
func refused(t *testing.T, err error, status int) *openai.Error {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v, want a refusal with %d", err, err, status)
	}
	if e.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", e.StatusCode, status, e.RawJSON())
	}
	if e.Response.Header.Get("x-gateway-trace-id") == "" {
		t.Error("a refusal without a trace id")
	}
	return e
}

func begins(t *testing.T, text, start string) {
	t.Helper()
	if !strings.HasPrefix(text, start) {
		t.Errorf("%q does not begin with %q", text, start)
	}
}
