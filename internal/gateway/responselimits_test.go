package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// However a call names how long its answers may become and how many there may be, what is held
// covers what its provider may take it for: of several limits it may read the largest, and one
// that it does not read limits nothing.
func TestEveryLimitOfAnAnswerIsHeld(t *testing.T) {
	t.Parallel()
	const chat, gemini, converse = "/v1/chat/completions", "/v1beta/models/gemini-2.5-flash:generateContent", "/v1/model/amazon.nova-lite-v1:0/converse"
	for name, c := range map[string]struct {
		provider, path, body string
		minTokens, maxTokens int64 // tokens that are held beside the input
	}{
		"one":                        {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":100}`, 100, 500},
		"the larger of two":          {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"max_completion_tokens":5000}`, 5000, 5500},
		"in a vendor's words":        {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"maxOutputTokens":5000}`, 5000, 5500},
		"in a vendor's member":       {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"generationConfig":{"maxOutputTokens":5000}}`, 5000, 5500},
		"in options":                 {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"options":{"num_predict":5000}}`, 5000, 5500},
		"escaped":                    {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"max_new_toke\u006es":5000}`, 5000, 5500},
		"as a text":                  {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"max_completion_tokens":"5000"}`, 5000, 5500},
		"without an end":             {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":3,"options":{"num_predict":-1}}`, 16_000, 17_500},
		"no limit that is read":      {"openai", chat, `{"model":"gpt-4o-mini","inferenceConfig":{"maxTokens":3}}`, 16_000, 17_500},
		"of another surface":         {"openai", "/v1/responses", `{"model":"gpt-4o-mini","max_tokens":3,"input":"x"}`, 16_000, 17_500},
		"several answers":            {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":100,"n":7}`, 700, 1200},
		"several, in vendor's words": {"openai", chat, `{"model":"gpt-4o-mini","max_tokens":100,"generationConfig":{"candidateCount":7}}`, 700, 1200},
		"Gemini's own":               {"google", gemini, `{"contents":[],"generationConfig":{"maxOutputTokens":100}}`, 100, 500},
		"Gemini's candidates":        {"google", gemini, `{"contents":[],"generationConfig":{"maxOutputTokens":100,"candidateCount":8}}`, 800, 1200},
		"Gemini's, with underscores": {"google", gemini, `{"contents":[],"generation_config":{"max_output_tokens":100,"candidate_count":8}}`, 800, 1200},
		"Gemini's, beside another":   {"google", gemini, `{"contents":[],"max_tokens":3,"generationConfig":{"maxOutputTokens":5000}}`, 5000, 5500},
		"another at Gemini":          {"google", gemini, `{"contents":[],"max_tokens":3}`, 65_000, 67_000},
		"Bedrock's own":              {"bedrock", converse, `{"messages":[],"inferenceConfig":{"maxTokens":100}}`, 100, 500},
		"Bedrock's beside another":   {"bedrock", converse, `{"messages":[],"max_tokens":3,"inferenceConfig":{"maxTokens":4000}}`, 4000, 4500},
		"spelled in another way":     {"openai", chat, `{"model":"gpt-4o-mini","maxTokens":1,"maxCompletionTokens":1}`, 16_000, 17_500},
		"in capitals":                {"openai", chat, `{"model":"gpt-4o-mini","MAX_TOKENS":1}`, 16_000, 17_500},
		"with a hyphen":              {"openai", chat, `{"model":"gpt-4o-mini","max-tokens":1}`, 16_000, 17_500},
		"with two underscores":       {"openai", chat, `{"model":"gpt-4o-mini","max__tokens":1}`, 16_000, 17_500},
		"spelled, beside null":       {"openai", chat, `{"model":"gpt-4o-mini","maxTokens":1,"max_tokens":null}`, 16_000, 17_500},
		"of a response, spelled":     {"openai", "/v1/responses", `{"model":"gpt-4o-mini","maxOutputTokens":3,"input":"x"}`, 16_000, 17_500},
		"read, with escapes":         {"openai", chat, `{"model":"gpt-4o-mini","max_toke\u006es":100}`, 100, 500},
		"Ollama's at OpenAI":         {"openai", "/api/chat", `{"model":"gpt-4o-mini","options":{"num_predict":1}}`, 16_000, 17_500},
		"Bedrock's at OpenAI":        {"openai", "/v1/chat/completions/converse", `{"model":"gpt-4o-mini","inferenceConfig":{"maxTokens":1}}`, 16_000, 17_500},
		"Gemini's at OpenAI":         {"openai", "/v1/models/gpt-4o-mini:generateContent", `{"model":"gpt-4o-mini","generationConfig":{"maxOutputTokens":1}}`, 16_000, 17_500},
		"a response's, by path":      {"openai", "/v1/openai/responses", `{"model":"gpt-4o-mini","max_tokens":1,"input":"x"}`, 16_000, 17_500},
		"Gemini's, spelled":          {"google", gemini, `{"contents":[],"generationConfig":{"MaxOutputTokens":3},"generation-config":{"maxOutputTokens":3}}`, 65_000, 67_000},
		"passed through, spelled":    {"openai", "/v1/chatter", `{"model":"gpt-4o-mini","maxTokens":1,"options":{"max_tokens":1}}`, 16_000, 17_500},
		"passed through":             {"openai", "/v1/chatter", `{"model":"gpt-4o-mini","max_tokens":3,"maxTokens":5000}`, 5000, 5500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e9)}})
			headers := []string{"x-gateway-provider: " + c.provider, "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + "/v1"}
			if c.provider == "bedrock" {
				headers = r.bedrock()
			}
			if c.path == chat {
				c.body = strings.TrimSuffix(c.body, "}") + `,"messages":[{"role":"user","content":"x"}]}`
			}
			r.call("POST", c.path, c.body, headers...)
			lines := r.journal.ledger()
			if len(lines) == 0 || len(lines[0].Charges) != 1 {
				t.Fatalf("ledger %+v", lines)
			}
			if got := lines[0].Charges[0].Units; got < c.minTokens || got > c.maxTokens {
				t.Errorf("%d tokens are held, want from %d to %d", got, c.minTokens, c.maxTokens)
			}
		})
	}
}

// What a config sets counts in the place of what the caller sends.
func TestLimitsOfConfigsReplaceThoseOfCallers(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]int64{
		`"override_params":{"max_tokens":100}`:                            100,
		`"override_params":{"max_completion_tokens":9000}`:                9000,
		`"default_params":{"max_tokens":100}`:                             5000,
		`"default_params":{"max_completion_tokens":7000}`:                 7000,
		`"override_params":{"generationConfig":{"maxOutputTokens":9000}}`: 9000,
	} {
		r := newRig(t)
		r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e9)}})
		r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","max_tokens":5000,"messages":[{"role":"user","content":"x"}]}`, fmt.Sprintf(`x-gateway-config: {"provider":"openai","api_key":"k","custom_host":"%s/v1",%s}`, r.up.URL(), config))
		if got := r.journal.ledger()[0].Charges[0].Units; got < want || got > want+500 {
			t.Errorf("%s: %d tokens are held, want %d", config, got, want)
		}
	}
}

// A model in the path counts, whatever the body says beside it.
func TestModelOfThePathCountsBesideThatOfTheBody(t *testing.T) {
	t.Parallel()
	for path, refused := range map[string]bool{"/v1beta/models/gemini-2.5-pro:generateContent": false, "/v1beta/models/gemini-none:generateContent": true} {
		r := newRig(t)
		r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 100)}})
		r.up.Handle(path, upstream.Always(upstream.JSON(200, json.RawMessage(`{"candidates":[],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":100,"totalTokenCount":100}}`))))
		a := r.call("POST", path, `{"model":"gemini-2.5-flash-lite","contents":[],"generationConfig":{"maxOutputTokens":100}}`, "x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())
		if (a.StatusCode == 412) != refused {
			t.Fatal(path, a.StatusCode, a.Text)
		}
		if s := r.journal.one(t).Spend; !refused && (s.Cost != 100*10_000 || s.MaxCost < s.Cost) {
			t.Errorf("a cost of %d where %d were reserved", s.Cost, s.MaxCost)
		}
	}
}
