package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/test/upstream"
)

// cachingProvider is an upstream with a prompt cache: it counts the blocks of a prompt that it has seen
// at the same position before. With marks, it stores prefixes up to a mark only.
type cachingProvider struct {
	t        *testing.T
	marks    bool
	response string // with two verbs: tokens read and written

	mu     sync.Mutex // guards stored
	stored map[string]bool
}

// serve answers a call with the tokens that were read from the cache and written to it.
func (p *cachingProvider) serve(s upstream.Seen) *upstream.Response {
	blocks, marked := promptBlocks(p.t, s.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stored == nil {
		p.stored = map[string]bool{}
	}
	read, written := 0, 0
	for i := range blocks {
		if prefix := strings.Join(blocks[:i+1], "\n"); p.stored[prefix] {
			read = len(prefix) / 4
		}
	}
	for i := range blocks {
		if prefix := strings.Join(blocks[:i+1], "\n"); !p.marks || marked[i] {
			p.stored[prefix] = true
			written = max(written, len(prefix)/4-read)
		}
	}
	out := upstream.JSON(200, []byte(fmt.Sprintf(p.response, read, written)))
	return &out
}

// promptBlocks returns the blocks of a prompt in the order in which providers cache them, without marks,
// and which of them are marked.
func promptBlocks(t *testing.T, raw []byte) (blocks []string, marked []bool) {
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Error(err)
	}
	add := func(block any) {
		m, isObject := block.(map[string]any)
		if isObject && m["cachePoint"] != nil {
			marked[len(marked)-1] = true
			return
		}
		mark := isObject && m["cache_control"] != nil
		if isObject {
			delete(m, "cache_control")
		}
		text, _ := json.Marshal(block)
		blocks, marked = append(blocks, string(text)), append(marked, mark)
	}
	each := func(content any) {
		switch c := content.(type) {
		case string:
			add(map[string]any{"type": "text", "text": c})
		case []any:
			for _, b := range c {
				add(b)
			}
		}
	}
	if config, ok := body["toolConfig"].(map[string]any); ok {
		each(config["tools"])
	}
	each(body["tools"])
	for _, name := range []string{"system", "systemInstruction"} {
		if parts, ok := body[name].(map[string]any); ok {
			each(parts["parts"])
		}
		each(body[name])
	}
	for _, list := range []string{"messages", "contents"} {
		messages, _ := body[list].([]any)
		for _, m := range messages {
			message := m.(map[string]any)
			each(message["content"])
			each(message["parts"])
		}
	}
	return blocks, marked
}

// promptCaches are providers with a prompt cache, for calls of the Messages API.
var promptCaches = []struct {
	name, target, path, model, response string
	marks                               bool
}{
	{"openai", `"provider":"openai","api_key":"k","custom_host":"HOST/v1"`, "/v1/chat/completions", "gpt-4o-mini",
		`{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":1,"total_tokens":9001,"prompt_tokens_details":{"cached_tokens":%d,"x":%d}}}`, false},
	{"google", `"provider":"google","api_key":"k","custom_host":"HOST"`, "/v1beta/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash",
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9000,"candidatesTokenCount":1,"totalTokenCount":9001,"cachedContentTokenCount":%d,"x":%d}}`, false},
	{"nova", bedrockTarget, "/model/amazon.nova-pro-v1%3A0/converse", "amazon.nova-pro-v1:0",
		`{"output":{"message":{"role":"assistant","content":[{"text":"ok"}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":1,"totalTokens":10,"cacheReadInputTokens":%d,"cacheWriteInputTokens":%d}}`, true},
	{"claude at Amazon", bedrockTarget, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", messageWithCache, true},
	{"claude", `"provider":"anthropic","api_key":"k","custom_host":"HOST/v1"`, "/v1/messages", "claude-sonnet-4-5", messageWithCache, true},
}

const (
	bedrockTarget    = `"provider":"bedrock","aws_access_key_id":"AKIDEXAMPLE","aws_secret_access_key":"s","aws_region":"us-east-1","custom_host":"HOST"`
	messageWithCache = `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`
	promptCacheAuto  = `,"provider_cache":"auto"`
)

// promptConfig is the header with a config of one target.
func (r *rig) promptConfig(target string) string {
	return "x-gateway-config: {" + strings.ReplaceAll(target, "HOST", r.up.URL()) + "}"
}

// agentTurn is a call of a coding agent: its first line changes with every call, and its mark is at the
// last message.
func agentTurn(model, nonce string, turns ...string) string {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	body := `{"model":"` + model + `","max_tokens":64,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.117.48f; cc_entrypoint=cli; cch=` + nonce + `;"},{"type":"text","text":"` + strings.Repeat("You write code. ", 700) + `"` + mark + `}],` +
		`"tools":[{"name":"read","description":"` + strings.Repeat("Reads a file. ", 100) + `","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"messages":[`
	for i, text := range turns {
		role, end := "user", ""
		if i%2 == 1 {
			role = "assistant"
		}
		if i == len(turns)-1 {
			end = mark
		}
		body += fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q%s}]},`, role, text, end)
	}
	return strings.TrimSuffix(body, ",") + "]}"
}

// The second turn of a coding agent reads the first one from the prompt cache of each provider, although
// the agent's first line differs. What was saved is in the log.
func TestPromptCache_SecondTurnOfACodingAgentIsCached(t *testing.T) {
	t.Parallel()
	for _, p := range promptCaches {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			provider := &cachingProvider{t: t, marks: p.marks, response: p.response}
			r.up.Handle(p.path, provider.serve)
			config := r.promptConfig(p.target + promptCacheAuto)
			ask := strings.Repeat("Fix the parser. ", 300)
			first := r.call("POST", "/v1/messages", agentTurn(p.model, "71fea", ask), config)
			nonce := "71fea"
			if p.name != "claude" { // the only host that reads the line, and does not cache it
				nonce = "90b2c"
			}
			second := r.call("POST", "/v1/messages", agentTurn(p.model, nonce, ask, "ok", "Go on."), config)
			if first.StatusCode != 200 || second.StatusCode != 200 {
				t.Fatalf("%d %s, %d %s", first.StatusCode, first.Text, second.StatusCode, second.Text)
			}
			rows := r.journal.some(t, 2)
			if got := rows[1].Usage.CachedTokens; got < 3000 || !strings.Contains(second.Text, fmt.Sprintf(`"cache_read_input_tokens":%d`, got)) {
				t.Errorf("%d tokens were cached: %s", got, second.Text)
			}
			for _, s := range r.up.Seen() {
				if has := strings.Contains(string(s.Body), "x-anthropic-billing-header"); has != (p.name == "claude") {
					t.Errorf("line of the agent sent: %v, %.200s", has, s.Body)
				}
			}
			var log struct {
				Saved int64 `json:"saved_nano"`
			}
			if err := json.Unmarshal([]byte(rows[1].PromptCache), &log); err != nil || log.Saved <= 0 {
				t.Errorf("log %q, cost %d, %v", rows[1].PromptCache, rows[1].Spend.Cost, err)
			}
		})
	}
}

var anyMark = regexp.MustCompile(`"cache_control":\{[^}]*\}|"cachePoint":\{[^}]*\}`)

// messagesWithMarks is a Messages call with marks at up to four positions: tools, system, first and last
// message.
func messagesWithMarks(model, ttl string, paths ...int) string {
	mark := func(path int) string {
		switch {
		case !slices.Contains(paths, path):
			return ""
		case ttl != "":
			return `,"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
		}
		return `,"cache_control":{"type":"ephemeral"}`
	}
	long := strings.Repeat("Be exact and brief. ", 500)
	return `{"model":"` + model + `","max_tokens":64,"tools":[{"name":"f","description":"` + long + `","input_schema":{"type":"object"}` + mark(0) + `}],"system":[{"type":"text","text":"` + long + `"` + mark(1) + `}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"` + long + `"` + mark(2) + `}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"7"` + mark(3) + `}]}]}`
}

// The gateway never adds a fifth mark, and the client's own stay where they are.
func TestPromptCache_NeverAddsAFifthMark(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]int{nil, {0}, {3}, {1, 2}, {0, 1, 3}, {0, 1, 2, 3}} {
		t.Run(fmt.Sprint(paths), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(messageWithCache, 0, 5000)))))
			body := messagesWithMarks("claude-sonnet-4-5", "", paths...)
			a := r.call("POST", "/v1/messages", body, r.promptConfig(promptCaches[4].target+promptCacheAuto))
			sent := string(r.up.Seen()[0].Body)
			n := len(anyMark.FindAllString(sent, -1))
			if a.StatusCode != 200 || n > 4 || n < len(paths) || n == 0 {
				t.Fatalf("%d marks of %d: %d %s", n, len(paths), a.StatusCode, a.Text)
			}
			if len(paths) == 4 && sent != body {
				t.Errorf("the body changed: %s", sent)
			}
			before, after := markedTexts(t, []byte(body)), markedTexts(t, []byte(sent))
			for _, text := range before {
				if !slices.Contains(after, text) {
					t.Errorf("the mark of %.40q is gone", text)
				}
			}
			if got := strings.Count(r.journal.one(t).PromptCache, "messages[") + strings.Count(r.journal.one(t).PromptCache, `"system`) + strings.Count(r.journal.one(t).PromptCache, `"tools[`); got != n-len(paths) {
				t.Errorf("log %s, %d marks were placed", r.journal.one(t).PromptCache, n-len(paths))
			}
		})
	}
}

// markedTexts returns the blocks with marks.
func markedTexts(t *testing.T, body []byte) (texts []string) {
	blocks, marked := promptBlocks(t, body)
	for i, b := range blocks {
		if marked[i] {
			texts = append(texts, b)
		}
	}
	return texts
}

// A body keeps all its bytes if the config does not request prompt caches.
func TestPromptCache_PlacesNothingUnlessRequested(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"", `,"provider_cache":"off"`} {
		r := newRig(t)
		r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(messageWithCache, 0, 0)))))
		for _, paths := range [][]int{nil, {1, 3}} {
			body := messagesWithMarks("claude-sonnet-4-5", "", paths...)
			if a := r.call("POST", "/v1/messages", body, r.promptConfig(promptCaches[4].target+setting)); a.StatusCode != 200 {
				t.Fatal(a.StatusCode, a.Text)
			}
			if sent := r.up.Seen()[r.up.Total()-1]; string(sent.Body) != body {
				t.Errorf("the body changed: %s", sent.Body)
			}
		}
		if log := r.journal.all()[0].PromptCache; log != "" {
			t.Errorf("log %q", log)
		}
	}
}

// A fallback to a model without a prompt cache drops the marks and names them. A caller of strict
// parameters is refused.
func TestPromptCache_DropsMarksForAModelWithoutOne(t *testing.T) {
	t.Parallel()
	const llama = "/model/meta.llama3-70b-instruct-v1%3A0/converse"
	for _, auto := range []string{"", promptCacheAuto} {
		r := newRig(t)
		r.up.Handle("/v1/messages", upstream.Always(upstream.JSON(529, []byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`))))
		r.up.Handle(llama, upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(promptCaches[2].response, 0, 0)))))
		config := r.promptConfig(`"strategy":{"mode":"fallback"},"targets":[{` + promptCaches[4].target + `},{` + bedrockTarget + `,"override_params":{"model":"meta.llama3-70b-instruct-v1:0"}}]` + auto)
		body := messagesWithMarks("claude-sonnet-4-5", "", 0, 1, 2, 3)
		a := r.call("POST", "/v1/messages", body, config)
		dropped := a.Header.Get("x-gateway-dropped-params")
		if a.StatusCode != 200 || strings.Count(dropped, "cache_control") != 4 {
			t.Errorf("%d %s, dropped %q", a.StatusCode, a.Text, dropped)
		}
		seen := r.up.Seen()
		if sent := string(seen[len(seen)-1].Body); anyMark.MatchString(sent) {
			t.Errorf("a mark was sent: %s", anyMark.FindString(sent))
		}
		if rows := r.journal.some(t, 2); rows[1].Dropped != dropped {
			t.Errorf("the log has %q", rows[1].Dropped)
		}
		if a := r.call("POST", "/v1/messages", body, config, "x-gateway-strict-params: true"); a.StatusCode != 400 || !strings.Contains(a.Text, "cache_control") {
			t.Errorf("strict: %d %s", a.StatusCode, a.Text)
		}
	}
}

// Chat completions with marks go to a provider that rejects marks without them, and to a host of
// another service as they were sent.
func TestPromptCache_DropsMarksOfChatCompletions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle("/v1/chat/completions", upstream.Always(chatResponse("ok")))
	body := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}`
	a := r.call("POST", "/v1/chat/completions", body, r.promptConfig(`"provider":"databricks","databricks_workspace":"w","api_key":"k","custom_host":"HOST/v1"`))
	if got := a.Header.Get("x-gateway-dropped-params"); a.StatusCode != 200 || got != "messages[0].content[0].cache_control" {
		t.Errorf("%d %s, dropped %q", a.StatusCode, a.Text, got)
	}
	if sent := string(r.up.Seen()[0].Body); sent != strings.Replace(body, `,"cache_control":{"type":"ephemeral"}`, "", 1) {
		t.Errorf("sent %s", sent)
	}
	r.call("POST", "/v1/chat/completions", body, r.promptConfig(`"provider":"openai","api_key":"k","custom_host":"HOST/v1"`))
	if sent := string(r.up.Seen()[1].Body); sent != body {
		t.Errorf("sent %s", sent)
	}
}

// Marks of an hour on system prompt, tool result and later message keep their hour at Amazon, and no
// mark of an hour follows one of five minutes, with or without marks of the gateway.
func TestPromptCache_KeepsTheHourAtAmazon(t *testing.T) {
	t.Parallel()
	const converse = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
	long := strings.Repeat("Be exact and brief. ", 500)
	const hour = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	chat := `{"model":"us.anthropic.claude-sonnet-4-5-20250929-v1:0","messages":[{"role":"system","content":[{"type":"text","text":"` + long + `"` + hour + `}]},{"role":"user","content":"` + long + `"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"7"` + hour + `}]},` +
		`{"role":"assistant","content":"Seven."},{"role":"user","content":[{"type":"text","text":"More."` + hour + `}]}],"tools":[{"type":"function","function":{"name":"f","description":"` + long + `","parameters":{"type":"object"}}}]}`
	for _, c := range []struct{ name, path, upstream, body, response string }{
		{"chat completions", "/v1/chat/completions", converse, chat, promptCaches[2].response},
		{"messages", "/v1/messages", promptCaches[3].path, messagesWithMarks(promptCaches[3].model, "1h", 1, 3), messageWithCache},
	} {
		for _, auto := range []string{"", promptCacheAuto} {
			t.Run(c.name+auto, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Handle(c.upstream, upstream.Always(upstream.JSON(200, []byte(fmt.Sprintf(c.response, 0, 0)))))
				if a := r.call("POST", c.path, c.body, r.promptConfig(bedrockTarget+auto)); a.StatusCode != 200 || a.Header.Get("x-gateway-dropped-params") != "" {
					t.Fatal(a.StatusCode, a.Text, a.Header.Get("x-gateway-dropped-params"))
				}
				sent := anyMark.FindAllString(inPromptOrder(t, r.up.Seen()[0].Body), -1)
				hours := 0
				for i, mark := range sent {
					if !strings.Contains(mark, `"1h"`) {
						continue
					}
					if hours++; hours != i+1 {
						t.Errorf("an hour after five minutes: %q", sent)
					}
				}
				if want := strings.Count(c.body, `"1h"`); hours < want || len(sent) > 4 {
					t.Errorf("%d of %d marks of an hour: %q", hours, want, sent)
				}
			})
		}
	}
}

// inPromptOrder returns the tools, the system prompt and the messages of a body in the order of the
// prompt.
func inPromptOrder(t *testing.T, raw []byte) string {
	var body struct{ ToolConfig, Tools, System, Messages json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Error(err)
	}
	return string(slices.Concat(body.ToolConfig, body.Tools, body.System, body.Messages))
}
