package e2e

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
	"sluice/internal/test/upstream/scripted"
)

// twoPeers starts a gateway in front of the two providers of the clients' tests: "@peer" has OpenAI's
// API, "@claude" Anthropic's. Both repeat what they were sent.
func twoPeers(t *testing.T, opts ...option) (g *gateway, peer, claude *upstream.Server) {
	t.Helper()
	peer, claude = upstream.Start(t), upstream.Start(t)
	claude.Script(scripted.Anthropic)
	g = start(t, opts...)
	g.saveProvider("peer", peer)
	g.saveIntegration("claude", "anthropic", claude.URL()+"/v1")
	return g, peer, claude
}

// runFile runs a file of tests for Node in front of the two providers, none of which may be skipped
// for another reason than the given one.
func (g *gateway) runFile(t *testing.T, file, skipped string, env ...string) {
	t.Helper()
	env = append(env, "SLUICE_BASE="+g.base+"/v1", "SLUICE_KEY="+g.key, "SLUICE_PROVIDER=@peer", "SLUICE_PEER=upstream")
	out := suite(t, "node", needNode(t), env, "--test", "--test-reporter=tap", file)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "# SKIP") && (skipped == "" || !strings.Contains(line, skipped)) {
			t.Errorf("skipped: %s", line)
		}
	}
}

// The official clients of OpenAI and Anthropic parse every outcome of guardrails: marked responses,
// denials with 446 and 200, denied streams and events with results.
func TestGuardrailClients(t *testing.T) {
	t.Parallel()
	g, _, _ := twoPeers(t)
	g.runFile(t, "guardrails.mjs", "guardrails are on")
}

// Vercel's AI SDK parses every outcome of guardrails on streams.
func TestGuardrailAISDK(t *testing.T) {
	t.Parallel()
	g, _, _ := twoPeers(t)
	g.runFile(t, "aisdk.mjs", "")
}

// With GUARDRAILS_ENABLED=OFF no guardrail runs, however it is attached, and doctor says so. Their
// administration is closed.
func TestGuardrailsOff(t *testing.T) {
	t.Parallel()
	g, _, _ := twoPeers(t)
	g.saveGuardrail("pg-off", "default.regexMatch", forbidden, object{"deny": true})
	config := g.saveConfig("Off", `{"provider":"@peer","input_guardrails":["pg-off"]}`)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	g.do(adminKey, "PUT", "/v1/workspaces/"+workspace, object{"defaults": object{"output_guardrails": []string{"pg-off"}}})
	body := strings.Replace(hello, "Hello there", "a forbidden text", 1)
	g.call("POST", "/v1/chat/completions", body, "x-gateway-provider: @peer").want(t, statusDenied)
	g.stop()

	g.plan.env = append(g.plan.env, "GUARDRAILS_ENABLED=OFF")
	g = g.again()
	for _, header := range []string{"x-gateway-provider: @peer", "x-gateway-config: " + config} {
		if a := g.call("POST", "/v1/chat/completions", body, header).want(t, 200); !strings.Contains(a.Body, "forbidden") || a.get("hook_results").Exists() {
			t.Errorf("%s: %s", header, a.Body)
		}
	}
	g.runFile(t, "guardrails.mjs", "guardrails are off", "SLUICE_OFF=1")
	g.call("GET", "/v1/guardrails", "").want(t, 403)
	if out := cli(t, g.plan.env, "doctor", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()).out; !strings.Contains(out, "warn  guardrails") {
		t.Errorf("doctor does not warn:\n%s", out)
	}
}
