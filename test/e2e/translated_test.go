package e2e

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
	"sluice/internal/test/upstream/scripted"
)

// talks are the tests for Node about conversations, goTalks those for Go.
var talks = []string{"chat.test.mjs", "messages.test.mjs", "vendors.test.mjs", "paths.test.mjs"}

const goTalks = "Chat|Tools|JSONSchema|Messages|Responses|Refusals|Stock|Vendors"

// The official clients of OpenAI and of Anthropic in front of providers that speak
// another language than theirs, and of Anthropic, Google, Cohere and Bedrock in front of their
// own.
func TestClientsOfOtherProviders(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		name, provider, base string // base is how the custom host ends
		script               upstream.Script
	}{
		{"anthropic", "anthropic", "/v1", scripted.Anthropic},
		{"gemini", "google", "", scripted.Gemini},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			up.Script(p.script)
			g := start(t)
			g.saveIntegration("peer", p.provider, up.URL()+p.base)
			g.runSuites(t, p.name, talks, goTalks)
		})
	}
}

// The same in front of aimock, where it speaks the shapes as the providers do.
func TestClientsOfMockedProviders(t *testing.T) {
	t.Parallel()
	node := needNode(t)
	mock := spawn(t, "node", node, nil, "aimock.mjs")
	url := mock.await(t, "its URL", func(text string) string {
		line, _, _ := strings.Cut(text, "\n")
		return line
	})
	for _, p := range []struct {
		name, provider, base string
		fields               object
	}{
		{"aimock-anthropic", "anthropic", "/v1", nil},
		{"aimock-gemini", "google", "", nil},
		{"aimock-cohere", "cohere", "", nil},
		{"aimock-bedrock", "bedrock", "", object{"aws_region": "us-east-1", "aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret"}},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			g := start(t)
			g.saveIntegration("peer", p.provider, url+p.base, p.fields)
			g.runSuites(t, p.name, talks, goTalks)
		})
	}
}
