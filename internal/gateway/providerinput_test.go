package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/limits/quota"
)

// held is what a call holds of a budget of tokens.
func tokensHeld(t *testing.T, provider, path, body string, headers ...string) int64 {
	t.Helper()
	r := newRig(t)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.TokenCount, 1e9)}})
	target := r.bedrock()
	if provider != "bedrock" {
		target = []string{"x-gateway-provider: " + provider, "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL() + "/v1"}
	}
	a := r.call("POST", path, body, append(target, headers...)...)
	lines := r.journal.ledger()
	if len(lines) == 0 || len(lines[0].Charges) != 1 {
		t.Fatalf("%d %s: ledger %+v", a.StatusCode, a.Text, lines)
	}
	return lines[0].Charges[0].Units
}

// What the provider brings in by itself holds as much input as the model reads: what its own tools
// find, fetch or are answered, and what it keeps. What the caller runs holds its bytes.
func TestWhatTheProviderBringsInIsHeldFor(t *testing.T) {
	t.Parallel()
	const (
		openai   = `"model":"gpt-4o-mini","max_tokens":10,"messages":[{"role":"user","content":"Search the web"}]`
		response = `"model":"gpt-4o-mini","max_output_tokens":10`
		claude   = `"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"x"}]`
		gem      = `"contents":[{"parts":[{"text":"Search"}]}],"generationConfig":{"maxOutputTokens":10}`
		gemma    = `"model":"gemini-2.5-flash","max_tokens":10,"messages":[{"role":"user","content":"x"}]`
		nova     = `"messages":[],"inferenceConfig":{"maxTokens":10}`

		chat, messages, replies = "/v1/chat/completions", "/v1/messages", "/v1/responses"
		native                  = "/v1beta/models/gemini-2.5-flash:generateContent"
		converse                = "/v1/model/amazon.nova-lite-v1:0/converse"
	)
	for name, c := range map[string]struct {
		provider, path, body string
		all                  bool
	}{
		"no tools":               {"openai", chat, openai, false},
		"functions":              {"openai", chat, openai + `,"tools":[{"type":"function","function":{"name":"web_search","description":"Search","parameters":{"type":"object","properties":{"file_url":{"type":"string"}}}}}],"tool_choice":"auto"`, false},
		"flat functions":         {"openai", replies, response + `,"input":"x","tools":[{"type":"function","name":"mcp","parameters":{}},{"type":"custom","name":"c"},{"type":"local_shell"}]`, false},
		"plain tools of Claude":  {"anthropic", messages, claude + `,"tools":[{"name":"web_fetch","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"},{"type":"custom","name":"x","input_schema":{}}]`, false},
		"declarations of Gemini": {"google", native, gem + `,"tools":[{"functionDeclarations":[{"name":"googleSearch"}]}]`, false},
		"an empty list":          {"anthropic", messages, claude + `,"mcp_servers":[],"tools":[]`, false},
		"tools of Converse":      {"bedrock", converse, nova + `,"toolConfig":{"tools":[{"toolSpec":{"name":"search"}}]}`, false},
		"a system tool":          {"bedrock", converse, nova + `,"toolConfig":{"tools":[{"systemTool":{"name":"nova_grounding"}}]}`, true},
		"web_fetch":              {"anthropic", messages, claude + `,"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]`, true},
		"web_search":             {"anthropic", messages, claude + `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`, true},
		"mcp_servers":            {"anthropic", messages, claude + `,"mcp_servers":[{"type":"url","url":"https://x","name":"x"}]`, true},
		"mcp":                    {"openai", replies, response + `,"input":"x","tools":[{"type":"mcp","server_url":"https://x","server_label":"a"}]`, true},
		"file_search":            {"openai", replies, response + `,"input":"x","tools":[{"type":"function","name":"f"},{"type":"file_search","vector_store_ids":["v"]}]`, true},
		"code_interpreter":       {"openai", replies, response + `,"input":"x","tools":[{"type":"code_interpreter","container":{"type":"auto"}}]`, true},
		"web_search of a reply":  {"openai", replies, response + `,"input":"x","tools":[{"type":"web_se\u0061rch"}]`, true},
		"a search of a chat":     {"openai", chat, openai + `,"web_search_options":{}`, true},
		"a group":                {"openai", replies, response + `,"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}]`, true},
		"urlContext":             {"google", native, gem + `,"tools":[{"urlContext":{}}]`, true},
		"googleSearch":           {"google", native, gem + `,"tools":[{"functionDeclarations":[],"googleSearch":{}}]`, true},
		"a function of Google's": {"google", chat, gemma + `,"tools":[{"type":"function","function":{"name":"url_context"}}]`, true},
		"a function of a caller": {"google", chat, gemma + `,"tools":[{"type":"function","function":{"name":"url_fetch"}}]`, false},
		"a cache":                {"google", native, gem + `,"cachedContent":"cachedContents/x"`, true},
		"a cache of a chat":      {"google", chat, gemma + `,"cached_content":"cachedContents/x"`, true},
		"a cache beside it":      {"google", chat, gemma + `,"extra_body":{"google":{"cached_content":"cachedContents/x"}}`, true},
		"an interaction":         {"google", "/v1beta/interactions", `"model":"gemini-2.5-flash","input":"x","previous_interaction_id":"v1","generation_config":{"max_output_tokens":10}`, true},
		"a film of Converse":     {"bedrock", converse, `"messages":[{"role":"user","content":[{"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://a/b.mp4"}}}}]}],"inferenceConfig":{"maxTokens":10}`, true},
		"a file of Gemini":       {"google", native, `"contents":[{"parts":[{"fileData":{"fileUri":"https://www.youtube.com/watch?v=x"}}]}],"generationConfig":{"maxOutputTokens":10}`, true},
		"a film of a chat":       {"google", chat, `"model":"gemini-2.5-flash","max_tokens":10,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://x/y.mp4"}}]}]`, true},
		"a document of a chat":   {"mistral-ai", chat, `"model":"mistral-small-latest","max_tokens":10,"messages":[{"role":"user","content":[{"type":"document_url","document_url":"https://x.test/a.pdf"}]}]`, true},
		"plugins":                {"openrouter", chat, `"model":"openai/gpt-4o-mini","max_tokens":10,"messages":[],"plugins":[{"id":"web"}]`, true},
		"a preset":               {"openrouter", chat, `"model":"openai/gpt-4o-mini","max_tokens":10,"messages":[],"preset":"p"`, true},
		"a prompt":               {"openai", replies, response + `,"prompt":{"id":"pmpt_1"}`, true},
		"an item":                {"openai", replies, response + `,"input":[{"type":"item_reference","id":"msg_abc123"}]`, true},
		"an item's id":           {"openai", replies, response + `,"input":[{"id":"msg_abc123"}]`, true},
		"a message with an id":   {"openai", replies, response + `,"input":[{"id":"msg_1","role":"user","content":"x"},{"type":"message","id":"m","role":"assistant","content":[]}]`, false},
		"a reply by path":        {"openai", "/v1/openai/responses", response + `,"input":"x","previous_response_id":"resp_1"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tokensHeld(t, c.provider, c.path, "{"+c.body+"}")
			if maxUsage := int64(6000); c.all != (got >= 100_000) || !c.all && got > maxUsage {
				t.Errorf("%d tokens are held", got)
			}
		})
	}
}

// A search is held for in whatever spelling it is asked, and not for tools that the caller runs.
func TestSearchesAreHeldInEverySpelling(t *testing.T) {
	t.Parallel()
	const path = "/v1beta/models/gemini-2.5-flash:generateContent"
	bound := func(path, tools, config string) int64 {
		t.Helper()
		r := newRig(t)
		body := `{"contents":[{"parts":[{"text":"Search"}]}],"generationConfig":{"maxOutputTokens":10}` + tools + `}`
		headers := []string{"x-gateway-provider: google", "authorization: Bearer k", "x-gateway-custom-host: " + r.up.URL()}
		if config != "" {
			headers = []string{`x-gateway-config: {"provider":"google","api_key":"k","custom_host":"` + r.up.URL() + `",` + config + `}`}
		}
		if !strings.HasPrefix(path, "/v1beta") {
			body = `{"model":"gemini-2.5-flash","max_tokens":10,"messages":[{"role":"user","content":"Search"}]` + tools + `}`
		}
		r.call("POST", path, body, headers...)
		return r.journal.one(t).Spend.MaxCost
	}
	want := bound(path, `,"tools":[{"google_search":{}}]`, "")
	if plain := bound(path, "", ""); plain*10 > want {
		t.Fatalf("%d with a search, %d without", want, plain)
	}
	for name, got := range map[string]int64{
		"googleSearch":          bound(path, `,"tools":[{"googleSearch":{}}]`, ""),
		"googleSearchRetrieval": bound(path, `,"tools":[{"googleSearchRetrieval":{}}]`, ""),
		"escaped":               bound(path, `,"tools":[{"google\u0053earch":{}}]`, ""),
		"of a config":           bound(path, "", `"override_params":{"tools":[{"googleSearch":{}}]}`),
		"of a chat":             bound("/v1/chat/completions", `,"tools":[{"type":"function","function":{"name":"googleSearch"}}]`, ""),
	} {
		if got < want {
			t.Errorf("%s: %d is held, want %d", name, got, want)
		}
	}
}
