package promptcache_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/anthropic"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/gemini"
	"sluice/internal/dialect/openai"
	"sluice/internal/gateway/promptcache"
	"sluice/internal/kernel/llm"
)

// agentCalls are two calls of a coding agent in one conversation. The first block of the system prompt
// differs with every call.
var agentCalls = [...]string{
	`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;"},{"type":"text","text":"You code."}],` +
		`"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Fix it."}]}`,
	`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.177.9af; cc_entrypoint=cli; cch=0aaa9;"},{"type":"text","text":"You code."}],` +
		`"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Fix it."},{"role":"assistant","content":"Done."},{"role":"user","content":"Thanks."}]}`,
}

func TestTranslatedAgentCalls_HaveAnEqualPrefix(t *testing.T) {
	t.Parallel()
	for name, up := range map[string]*dialect.Dialect{"openai": openai.Dialect(), "gemini": gemini.Dialect(), "bedrock": bedrock.Dialect()} {
		var bodies []string
		for _, call := range agentCalls {
			c, err := anthropic.Dialect().Clients[llm.Messages].DecodeCall([]byte(call))
			if err != nil {
				t.Fatal(err)
			}
			to := &dialect.Target{Endpoint: llm.ChatComplete, Provider: name, Model: "us.amazon.nova-pro-v1:0", Value: func(string) string { return "" }}
			out, err := up.Upstreams[llm.ChatComplete].EncodeCall(t.Context(), c, to)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			bodies = append(bodies, string(out.Body))
		}
		checkPrefix(t, name, bodies)
	}
}

// On hosts that serve Anthropic's own API, the call is not translated.
func TestAgentCallsOnOtherHosts_HaveAnEqualPrefix(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"vertex-ai", "azure-ai", "databricks", "bedrock-mantle"} {
		s := promptcache.Find(promptcache.Target{Provider: provider, Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-sonnet-4-5"})
		var bodies []string
		for _, call := range agentCalls {
			bodies = append(bodies, string(s.Prepare([]byte(call), promptcache.Options{}).Body))
		}
		checkPrefix(t, provider, bodies)
	}
	s := promptcache.Find(promptcache.Target{Provider: "anthropic", Dialect: "anthropic", Endpoint: llm.Messages, Model: "claude-sonnet-4-5"})
	if got := s.Prepare([]byte(agentCalls[0]), promptcache.Options{}); string(got.Body) != agentCalls[0] {
		t.Errorf("Anthropic does not get the line: %s", got.Body)
	}
}

// checkPrefix fails unless the second body contains all of the first one up to its last turn.
func checkPrefix(t *testing.T, name string, bodies []string) {
	t.Helper()
	end := strings.Index(bodies[0], "Fix it.")
	if end < 0 || !strings.HasPrefix(bodies[1], bodies[0][:end+len("Fix it.")]) {
		t.Errorf("%s: the prefixes differ:\n%s\n%s", name, bodies[0], bodies[1])
	}
	for _, b := range bodies {
		if strings.Contains(b, "billing-header") || !strings.Contains(b, "You code.") {
			t.Errorf("%s: got %s", name, b)
		}
	}
}
