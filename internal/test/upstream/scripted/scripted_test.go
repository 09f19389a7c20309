package scripted

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// post asks a script and returns status and body of the answer.
func post(t *testing.T, s upstream.Script, path, body string) (int, string) {
	t.Helper()
	r := s(upstream.Seen{Method: "POST", Target: path, Body: []byte(body), Header: []upstream.Field{
		{Name: "X-Api-Key", Value: "k"}, {Name: "Anthropic-Version", Value: "2023-06-01"}, {Name: "X-Goog-Api-Key", Value: "k"},
	}})
	if r == nil {
		return 0, ""
	}
	var text strings.Builder
	for _, p := range r.Chunks {
		text.Write(p.Bytes)
	}
	return max(r.Status, 0), text.String()
}

const (
	messages   = "/v1/messages"
	generation = "/v1beta/models/m:generateContent"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"rain"}]}`
	call := `{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]}`
	response := `{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"rain"}}}]}`
	reasoning := `{"type":"thinking","thinking":"hm","signature":"` + sign("hm") + `"}`
	user, geminiUser := `{"role":"user","content":"Hi"}`, `{"role":"user","parts":[{"text":"Hi"}]}`
	for name, c := range map[string]struct {
		script     upstream.Script
		path, body string
		status     int
		holds      string
	}{
		"says what it was told":  {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `]}`, 200, `"text":"You said: \"Hi\"."`},
		"calls what is named":    {Anthropic, messages, `{"model":"m","max_tokens":9,"tools":[{"name":"Hi","input_schema":{"properties":{"x":{"type":"string"}}}}],"messages":[` + user + `]}`, 200, `"input":{"x":"Hi"}`},
		"says what tools said":   {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `,` + use + `,` + result + `]}`, 200, `The tool said: rain.`},
		"wants its results":      {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `,` + use + `,` + user + `]}`, 400, "without `tool_result`"},
		"knows what it called":   {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + result + `]}`, 400, "unexpected `tool_use_id`"},
		"remembers":              {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `,{"role":"assistant","content":[` + reasoning + `]},` + user + `]}`, 200, "I remember my thoughts."},
		"knows its signature":    {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `,{"role":"assistant","content":[` + strings.Replace(reasoning, "hm", "ah", 1) + `]},` + user + `]}`, 400, "Invalid `signature`"},
		"takes turns":            {Anthropic, messages, `{"model":"m","max_tokens":9,"messages":[` + user + `,` + user + `]}`, 400, "must alternate"},
		"wants a limit":          {Anthropic, messages, `{"model":"m","messages":[` + user + `]}`, 400, "max_tokens"},
		"counts":                 {Anthropic, messages + "/count_tokens", `{"model":"m","messages":[` + user + `]}`, 200, `{"input_tokens":1}`},
		"fails as it is told":    {Anthropic, messages, `{"model":"fault:status@429"}`, 429, `"rate_limit_error"`},
		"leaves others":          {Anthropic, "/v1/models", `{}`, 0, ""},
		"gemini says":            {Gemini, generation, `{"contents":[` + geminiUser + `]}`, 200, `"text":"You said: \"Hi\"."`},
		"gemini streams":         {Gemini, strings.Replace(generation, ":g", ":streamG", 1), `{"contents":[` + geminiUser + `]}`, 0, "\r\n\r\ndata: "},
		"gemini says for tools":  {Gemini, generation, `{"contents":[` + geminiUser + `,` + call + `,` + response + `]}`, 200, `The tool said: rain.`},
		"gemini wants results":   {Gemini, generation, `{"contents":[` + geminiUser + `,` + call + `,` + geminiUser + `]}`, 400, "function response parts"},
		"gemini knows two roles": {Gemini, generation, `{"contents":[` + geminiUser + `,` + call + `,` + strings.Replace(response, "user", "function", 1) + `]}`, 400, "valid role"},
		"gemini's signature":     {Gemini, generation, `{"contents":[` + geminiUser + `,` + strings.Replace(call, `{"functionCall"`, `{"thoughtSignature":"QQ==","functionCall"`, 1) + `,` + response + `]}`, 400, "signature"},
		"gemini fails":           {Gemini, "/v1beta/models/fault:status%40429:generateContent", `{}`, 429, `"RESOURCE_EXHAUSTED"`},
	} {
		if status, body := post(t, c.script, c.path, c.body); status != c.status || !strings.Contains(body, c.holds) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}
