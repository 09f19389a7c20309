package cohere_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/llm"
)

type object = map[string]any

// chatOf puts a request to Cohere back into the words of chat completions, so that
// their reader can say what it holds.
func chatOf(t *testing.T, body []byte) *llm.Call {
	t.Helper()
	var m object
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for from, to := range map[string]string{"p": "top_p", "k": "top_k", "stop_sequences": "stop"} {
		if v, ok := m[from]; ok {
			delete(m, from)
			m[to] = v
		}
	}
	delete(m, "strict_tools")
	if v, ok := m["tool_choice"].(string); ok {
		m["tool_choice"] = strings.ToLower(v)
	}
	if f, ok := m["response_format"].(object); ok && f["json_schema"] != nil {
		m["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "n", "schema": f["json_schema"]}}
	}
	if th, ok := m["thinking"].(object); ok && th["token_budget"] != nil {
		m["thinking"] = object{"type": th["type"], "budget_tokens": th["token_budget"]}
	}
	for _, v := range m["messages"].([]any) {
		msg := v.(object)
		if plan, ok := msg["tool_plan"]; ok {
			list, _ := msg["content"].([]any)
			delete(msg, "tool_plan")
			msg["content"] = append(list, object{"type": "text", "text": plan})
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openai.Dialect().Clients[llm.ChatComplete].DecodeCall(raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return c
}

// droppedParams are parameters that Cohere does not have: with a value that changes nothing they
// are not named as lost.
var droppedParams = map[string]bool{
	llm.StreamOptions: true, llm.ParallelToolCalls: true, "n": true, "store": true, "service_tier": true, "metadata": true,
	"logit_bias": true, "modalities": true, "truncation": true, "include": true, "background": true,
}

// cohereOnly is what Cohere cannot tell apart beyond what dialecttest knows.
func cohereOnly(c *llm.Call) {
	c.Stream = false
	if c.Format != nil {
		c.Format.Name, c.Format.Description, c.Format.Strict = "", "", nil
		if string(c.Format.Schema) != "" {
			c.Format.Schema = canonical(c.Format.Schema)
		}
	}
	if c.Choice.Mode == "tool" {
		c.Choice = llm.ToolChoice{Mode: "required"}
	}
	if c.Choice.Mode == "auto" {
		c.Choice = llm.ToolChoice{}
	}
	for i := range c.Tools {
		c.Tools[i].Strict = nil
		if c.Tools[i].Schema == nil {
			c.Tools[i].Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		c.Tools[i].Schema = canonical(c.Tools[i].Schema)
	}
	var params []llm.Param
	for _, p := range c.Params {
		switch {
		case p.Name == llm.MaxCompletionTokens:
			p.Name = llm.MaxTokens
		case droppedParams[p.Name]:
			continue
		case p.Name == llm.Stop && p.Raw[0] != '[':
			p.Raw = json.RawMessage("[" + string(p.Raw) + "]")
		}
		p.Raw = canonical(p.Raw)
		params = append(params, p)
	}
	c.Params = params
	for i := range c.Messages {
		planned(&c.Messages[i])
	}
}

// planned puts an assistant's thoughts first, what it says behind them as one text,
// refusals included, and its calls last; failed results say so.
func planned(m *llm.Message) {
	var reasoning, calls []llm.Part
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Result != nil && p.Result.Error:
			text := ""
			if len(p.Result.Parts) > 0 {
				text = p.Result.Parts[0].Text
			}
			p.Result.Error, p.Result.Parts = false, []llm.Part{{Text: "Error: " + text}}
		case p.Kind == llm.ReasoningPart:
			reasoning = append(reasoning, p)
		case p.Kind == llm.TextPart || p.Kind == llm.RefusalPart:
			texts = append(texts, p.Text)
		case p.Kind == llm.CallPart:
			calls = append(calls, p)
		}
	}
	if m.Role != llm.RoleAssistant {
		return
	}
	m.Parts = reasoning
	if len(texts) > 0 {
		m.Parts = append(m.Parts, llm.Part{Text: strings.Join(texts, "\n")})
	}
	m.Parts = append(m.Parts, calls...)
}

func canonical(raw json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, _ := json.Marshal(v)
	return out
}

func TestNothingIsLostUnsaid(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(300) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 7)), dialecttest.Options{
				Surface: surface, Without: dialecttest.Files | dialecttest.FileIDs | dialecttest.Audio | dialecttest.Media,
			})
			out, err := upstream().EncodeCall(context.Background(), c, target)
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			diff := dialecttest.Diff(
				dialecttest.Rest(c, out.Dropped), chatOf(t, out.Body),
				dialecttest.Positions, dialecttest.Surface, dialecttest.Model, dialecttest.Sources, dialecttest.Developers, dialecttest.Turns, dialecttest.Texts("\n"),
				dialecttest.Arguments, dialecttest.ResultNames, dialecttest.URLTypes, cohereOnly, dialecttest.Turns, dialecttest.Texts("\n"), dialecttest.Positions,
			)
			if len(diff) > 0 {
				t.Fatalf("%s %d:\n%s\nlost %q\n%s", surface, seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
			}
		}
	}
}
