package registry_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/llm"
)

// A conversation may have as many parts as fit a body. What looks at all of them for each,
// or copies all that was written so far, takes longer with this many than tests may.
func TestManyParts(t *testing.T) {
	t.Parallel()
	const parts = 50_000
	many := func(element string) string { return strings.Repeat(element+",", parts-1) + element }
	texts := many(`{"type":"text","text":"one more of many texts"}`)
	const call = `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for name, c := range map[string]struct {
		surface  llm.Endpoint
		body     string
		provider string
		endpoint llm.Endpoint
	}{
		"texts of the model": {llm.ChatComplete, `{"role":"assistant","content":[` + texts + `]}`, "openai", llm.ChatComplete},
		"texts of a result":  {llm.ChatComplete, call + `,{"role":"tool","tool_call_id":"c","content":[` + texts + `]}`, "openai", llm.ChatComplete},
		"calls": {
			llm.ChatComplete, many(call) + "," + many(`{"role":"tool","tool_call_id":"c","content":"x"}`), "openai", llm.CreateModelResponse,
		},
		"documents of one name": {
			llm.ChatComplete, `{"role":"user","content":[` + many(`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}`) + `]}`,
			"bedrock", llm.ChatComplete,
		},
		"chunks of a document": {
			llm.Messages, `{"role":"user","content":[{"type":"document","source":{"type":"content","content":[` + texts + `]}}]}`, "openai", llm.ChatComplete,
		},
	} {
		to := &dialect.Target{Endpoint: c.endpoint, Provider: c.provider, Model: "anthropic.claude-sonnet-4", Value: func(string) string { return "" }}
		var client dialect.Client
		var upstream dialect.Upstream
		for _, d := range registry.List() {
			if d.Clients[c.surface] != nil {
				client = d.Clients[c.surface]
			}
			if d.Name == c.provider {
				upstream = d.Upstreams[c.endpoint]
			}
		}
		got, err := client.DecodeCall([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},` + c.body + `]}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out, err := upstream.EncodeCall(t.Context(), got, to); err != nil || len(out.Body) < parts {
			t.Errorf("%s: %v", name, err)
		}
	}
}
