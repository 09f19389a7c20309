package workersai_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/workersai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

var target = &dialect.Target{Provider: "workers-ai", Model: "@cf/meta/llama-3.3-70b-instruct-fp8-fast"}

func upstream() dialect.Upstream { return workersai.Dialect().Upstreams[llm.ChatComplete] }

func chatCall(t testing.TB, fields string) *llm.Call {
	t.Helper()
	if !strings.Contains(fields, `"messages"`) {
		fields = `"messages":[{"role":"user","content":"x"}],` + fields
	}
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall([]byte("{" + fields + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEncodeCall(t *testing.T) {
	t.Parallel()
	const user = `{"messages":[{"role":"user","content":"x"}]`
	for _, c := range []struct {
		name, call, want string
		dropped          []string
	}{
		{
			"parameters", `"temperature":0.3,"top_p":0.9,"top_k":4,"max_tokens":50,"max_completion_tokens":60,"seed":7,"repetition_penalty":1.1,"raw":false,"stop":"x","user":"u"`,
			user + `,"raw":false,"temperature":0.3,"top_p":0.9,"top_k":4,"seed":7,"repetition_penalty":1.1,"max_tokens":60}`, []string{"stop", "user"},
		},
		{
			"tools", `"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}},{"type":"web_search"}],"tool_choice":"required"`,
			user + `,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","description":"","parameters":{"type":"object","properties":{}}}}]}`,
			[]string{"tools[0].function.strict", "tools[2]", "tool_choice"},
		},
		{"no tools now", `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`, user + `}`, nil},
		{
			"a schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}}`,
			user + `,"response_format":{"type":"json_schema","json_schema":{"type":"object"}}}`, []string{"response_format.json_schema.strict"},
		},
		{
			"a conversation", `"messages":[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"c\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"sun"}]`,
			`{"messages":[{"role":"system","content":"a\nb"},{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"c\":1}"}}]},{"role":"tool","tool_call_id":"a","name":"f","content":"sun"}]}`, nil,
		},
	} {
		out, err := upstream().EncodeCall(context.Background(), chatCall(t, c.call), target)
		if err != nil {
			t.Fatal(err)
		}
		if string(out.Body) != c.want || !slices.Equal(out.Dropped, c.dropped) {
			t.Errorf("%s: sent\n%s\nwant\n%s\nlost %q", c.name, out.Body, c.want, out.Dropped)
		}
	}
	to := *target
	to.Stream = true
	out, err := upstream().EncodeCall(context.Background(), chatCall(t, `"stream":true`), &to)
	if err != nil || string(out.Body) != user+`,"stream":true}` {
		t.Errorf("%s, %v", out.Body, err)
	}
	_, err = upstream().EncodeCall(context.Background(), chatCall(t, `"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"eA==","format":"wav"}}]}]`), target)
	if fault.From(err).Param != "messages[0].content[0]" {
		t.Errorf("a recording: %v", err)
	}
}

// sameHere is what Workers AI cannot tell apart beyond what dialecttest knows.
func sameHere(c *llm.Call) {
	if c.Format != nil {
		c.Format.Name, c.Format.Description, c.Format.Strict = "", "", nil
		if c.Format.Type == "text" {
			c.Format = nil
		}
	}
	if c.Choice.Mode == "none" {
		c.Tools = nil
	}
	c.Choice = llm.ToolChoice{}
	for i := range c.Tools {
		c.Tools[i].Strict = nil
		if c.Tools[i].Schema == nil {
			c.Tools[i].Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
	}
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool { return !supportedParams[p.Name] })
	for i := range c.Params {
		if c.Params[i].Name == llm.MaxCompletionTokens {
			c.Params[i].Name = llm.MaxTokens
		}
	}
	for i := range c.Messages {
		textsFirst(&c.Messages[i])
	}
}

var supportedParams = map[string]bool{
	"temperature": true, "top_p": true, "top_k": true, "seed": true, "frequency_penalty": true, "presence_penalty": true,
	llm.MaxTokens: true, llm.MaxCompletionTokens: true,
}

// textsFirst puts what an assistant says as one text before its calls, and says of
// results whether they failed in their text.
func textsFirst(m *llm.Message) {
	var texts []string
	var calls []llm.Part
	for _, p := range m.Parts {
		switch {
		case p.Result != nil && p.Result.Error:
			p.Result.Error = false
			if len(p.Result.Parts) == 0 {
				p.Result.Parts = []llm.Part{{}}
			}
			p.Result.Parts[0].Text = "Error: " + p.Result.Parts[0].Text
		case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
			texts = append(texts, p.Text)
		case p.Kind == llm.CallPart:
			calls = append(calls, p)
		}
	}
	if m.Role == llm.RoleAssistant {
		m.Parts = append([]llm.Part{{Text: strings.Join(texts, "\n")}}, calls...)
	}
}

// chatOf puts a request back into the words of chat completions.
func chatOf(t *testing.T, body []byte) *llm.Call {
	t.Helper()
	body = []byte(strings.Replace(string(body), `"response_format":{"type":"json_schema","json_schema":{`, `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{`, 1))
	if strings.Contains(string(body), `"json_schema":{"name":"n"`) {
		start := strings.Index(string(body), `"schema":{`) + len(`"schema":`)
		var schema json.RawMessage
		if err := json.NewDecoder(strings.NewReader(string(body[start:]))).Decode(&schema); err != nil {
			t.Fatal(err)
		}
		body = []byte(string(body[:start]) + string(schema) + "}" + string(body[start+len(schema):]))
	}
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return c
}

func TestNothingIsLostUnsaid(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(300) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 3)), dialecttest.Options{
				Surface: surface, Without: dialecttest.Files | dialecttest.FileIDs | dialecttest.Audio | dialecttest.Media,
			})
			out, err := upstream().EncodeCall(context.Background(), c, target)
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			diff := dialecttest.Diff(
				dialecttest.Rest(c, out.Dropped), chatOf(t, out.Body),
				dialecttest.Positions, dialecttest.Surface, dialecttest.Model, dialecttest.Stream, dialecttest.Sources, dialecttest.Developers, dialecttest.Turns,
				dialecttest.Arguments, dialecttest.ResultNames, dialecttest.URLTypes, sameHere, dialecttest.Texts("\n"), dialecttest.Positions,
			)
			if len(diff) > 0 {
				t.Fatalf("%s %d:\n%s\nlost %q\n%s", surface, seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
			}
		}
	}
}
