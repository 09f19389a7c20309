package tokens_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

// Of members that stand in an object twice, however their names are spelled, what counts is
// what providers read: the last.
func TestTwins(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("many words ", 200) + `"`
	tools := func(tool string) string { return `{"messages":[],"tools":[` + tool + `]}` }
	request := func(part string) string { return `{"messages":[{"role":"user","content":[` + part + `]}]}` }
	const spare = 20 // where a schema counts as it stands, its twins do
	for name, c := range map[string]struct {
		ep               llm.Endpoint
		duplicated, last string
	}{
		"a function": {
			llm.ChatComplete, tools(`{"type":"function","function":{"name":"f"},"f\u0075nction":{"name":"f","description":` + long + `}}`),
			tools(`{"type":"function","function":{"name":"f","description":` + long + `}}`),
		},
		"its description": {
			llm.ChatComplete, tools(`{"type":"function","function":{"name":"f","description":"","description":` + long + `}}`),
			tools(`{"type":"function","function":{"name":"f","description":` + long + `}}`),
		},
		"its parameters": {
			llm.CreateModelResponse, tools(`{"type":"function","name":"f","parameters":{},"p\u0061rameters":{"properties":{"a":{"description":` + long + `}}}}`),
			tools(`{"type":"function","name":"f","parameters":{"properties":{"a":{"description":` + long + `}}}}`),
		},
		"its properties": {
			llm.ChatComplete, tools(`{"type":"function","function":{"name":"f","parameters":{"properties":{},"properties":{"a":{"enum":[1],"enum":[` + long + `]}}}}}`),
			tools(`{"type":"function","function":{"name":"f","parameters":{"properties":{"a":{"enum":[` + long + `]}}}}}`),
		},
		"a tool of messages": {
			llm.Messages, tools(`{"name":"f","input_schema":{},"input_schema":{"description":` + long + `}}`),
			tools(`{"name":"f","input_schema":{"description":` + long + `}}`),
		},
		"a kind of tool": {
			llm.CreateModelResponse, tools(`{"type":"function","type":"custom","name":"f","format":{"definition":` + long + `}}`),
			tools(`{"type":"custom","name":"f","format":{"definition":` + long + `}}`),
		},
		"a form of answer": {
			llm.ChatComplete, `{"messages":[],"response_format":{"json_schema":{"schema":{}},"json_schema":{"schema":{"description":` + long + `}}}}`,
			`{"messages":[],"response_format":{"json_schema":{"schema":{"description":` + long + `}}}}`,
		},
		"a kind of part": {
			llm.ChatComplete, request(`{"type":"text","t\u0079pe":"image_url","image_url":{"url":"https://x.example/a.png"}}`),
			request(`{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}`),
		},
		"a picture": {
			llm.ChatComplete, request(`{"type":"image_url","image_url":{"url":"x","detail":"low","detail":"high"}}`),
			request(`{"type":"image_url","image_url":{"url":"x","detail":"high"}}`),
		},
		"a document": {
			llm.Messages, request(`{"type":"document","source":{"type":"text","data":""},"source":{"type":"text","data":` + long + `}}`),
			request(`{"type":"document","source":{"type":"text","data":` + long + `}}`),
		},
	} {
		for _, model := range []string{"gpt-4o", "claude-sonnet-4-5"} {
			got, want := counter.Request(c.ep, []byte(c.duplicated), model).Tokens, counter.Request(c.ep, []byte(c.last), model).Tokens
			if maxTokens := tokens.MaxRequestTokens(c.ep, []byte(c.duplicated), model); got < want || got > want+spare || maxTokens < want {
				t.Errorf("%s: %d of at most %d, want %d", name, got, maxTokens, want)
			}
		}
	}
}

// Where nobody knows what of a tool is read, all of it counts.
func TestToolsInTwoForms(t *testing.T) {
	t.Parallel()
	body := `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}],"tools":[{"name":"f","function":{"name":"f"},"input_schema":{"description":"` + strings.Repeat("x ", 1000) + `"}}]}`
	if n, maxTokens := counter.Request(llm.Messages, []byte(body), "claude-sonnet-4-5").Tokens, tokens.MaxRequestTokens(llm.Messages, []byte(body), "claude-sonnet-4-5"); n < 1000 || maxTokens < n {
		t.Errorf("%d of at most %d", n, maxTokens)
	}
}
