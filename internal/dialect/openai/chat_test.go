package openai

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// What goes out as a chat completion and what is named as lost are the whole call,
// whatever surface it came in by.
func TestCallsLoseNothingUnsaid(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(400) {
			r := rand.New(rand.NewPCG(seed, 1))
			// Media in results move to a message of their own, which TestResultMedia shows.
			c := dialecttest.RandomCall(r, dialecttest.Options{Surface: surface, Without: dialecttest.Media | dialecttest.FileIDs})
			rules := &dialect.RequestRules{
				ReasoningField: []string{"", dialect.ReasoningInContent, dialect.ReasoningInSeparateField}[seed%3],
				ThinkingSwitch: seed%2 == 1,
			}
			out, err := chat{}.EncodeCall(context.Background(), c, &dialect.Target{Model: c.Model, Rules: rules})
			if f := fault.From(err); f != nil && f.Code == fault.InvalidParameter && f.Param != "" {
				continue // a part that chat cannot carry, named
			}
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			if !jsonedit.Valid(out.Body) {
				t.Fatalf("%s %d: no JSON: %s", surface, seed, out.Body)
			}
			decoded, err := chat{}.DecodeCall(out.Body)
			if err != nil {
				t.Fatalf("%s %d: %v\n%s", surface, seed, err, out.Body)
			}
			loose := []dialecttest.Loose{
				useChatParams, dialecttest.Surface, dialecttest.Positions, dialecttest.Sources, dialecttest.ResultNames, dialecttest.DocumentNames, dialecttest.URLTypes,
				dialecttest.Turns, joined, switchedOn,
			}
			if diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), decoded, loose...); diff != nil {
				t.Fatalf("%s %d, lost %q:\n%s\n%s", surface, seed, out.Dropped, strings.Join(diff, "\n"), out.Body)
			}
		}
	}
}

// joined joins the texts that chat has in one: line by line what the system says, and
// word by word what the model said.
func joined(c *llm.Call) {
	for i := range c.Messages {
		m := &c.Messages[i]
		sep := ""
		switch m.Role {
		case llm.RoleSystem, llm.RoleDeveloper:
			sep = "\n"
		case llm.RoleAssistant:
		default:
			continue
		}
		one := llm.Call{Messages: []llm.Message{*m}}
		dialecttest.Texts(sep)(&one)
		m.Parts = one.Messages[0].Parts
	}
}

// switchedOn leaves the switch for thinking out: the effort beside it says how much.
func switchedOn(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool { return p.Name == llm.Thinking && string(p.Raw) == `{"type":"enabled"}` })
}

// useChatParams says in chat's words what chat has only one of.
func useChatParams(c *llm.Call) {
	for i := range c.Params {
		switch p := &c.Params[i]; p.Name {
		case llm.MaxCompletionTokens:
			p.Name = llm.MaxTokens
		case llm.Thinking:
			if level := conversation.EffortOf(p.Raw); level != "" {
				p.Name, p.Raw = llm.ReasoningEffort, jsonedit.Quote(level)
			}
		}
	}
	if f := c.Format; f != nil && f.Type == "json_schema" {
		f.Name = cmp.Or(f.Name, "output")
	}
	for i := range c.Messages {
		parts := c.Messages[i].Parts
		for k := range parts {
			if r := parts[k].Result; r != nil {
				failed(r)
			}
			if m := parts[k].Media; parts[k].Kind == llm.FilePart && m.Plain {
				parts[k].Kind, parts[k].Text, parts[k].Media = llm.TextPart, m.Data, nil
			}
		}
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Type != llm.Function {
			t.Name = "" // stands in Raw
		}
	}
}

// failed says that a call failed in the only way that chat has, its text.
func failed(r *llm.ToolResult) {
	one := llm.Call{Messages: []llm.Message{{Parts: r.Parts}}}
	dialecttest.Texts("\n")(&one)
	r.Parts = one.Messages[0].Parts
	if r.Error && len(r.Parts) > 0 {
		r.Parts[0].Text = "Error: " + r.Parts[0].Text
	}
	r.Error = false
}

// Models that do not think, as OpenAI's older ones, are told nothing about it: they would
// refuse the call.
func TestThinkingOfOlderModels(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"gpt-5": `"low"`, "openai/gpt-oss-120b": `"low"`, "openai/gpt-4o-mini": "", "gpt-4.1": "", "chatgpt-4o-latest": ""} {
		c := &llm.Call{
			Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}}}},
			Params: []llm.Param{{Name: llm.Thinking, From: "thinking", Raw: []byte(`{"type":"enabled","budget_tokens":1024}`)}},
		}
		out, err := chat{}.EncodeCall(t.Context(), c, &dialect.Target{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		effort, _ := jsonedit.Find(out.Body, llm.ReasoningEffort)
		if dropped := strings.Join(out.Dropped, " "); string(effort) != want || (dropped == "thinking") != (want == "") {
			t.Errorf("%s: %s, lost %q", model, effort, dropped)
		}
	}
}

// A document in the call has a name, even where the caller of messages gives it no title.
func TestDocumentsAreNamed(t *testing.T) {
	t.Parallel()
	c := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
		{Kind: llm.FilePart, Media: &llm.Media{MIME: "application/pdf", Data: "QQ=="}},
	}}}}
	out, err := chat{}.EncodeCall(context.Background(), c, &dialect.Target{Model: "gpt-4o"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"file_data":"data:application/pdf;base64,QQ==","filename":"document.pdf","mime_type":"application/pdf"}`
	if !strings.Contains(string(out.Body), want) {
		t.Errorf("no %s in\n%s", want, out.Body)
	}
}

// A call without arguments has an empty object of them, as those that other shapes get: vLLM
// and others refuse what is no JSON. What a tool of free text was given stays.
func TestCallsWithoutArguments(t *testing.T) {
	t.Parallel()
	c := &llm.Call{Surface: llm.CreateModelResponse, Messages: []llm.Message{{Role: llm.RoleAssistant, Parts: []llm.Part{
		{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c1", Name: "f"}},
		{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c2", Name: "g", Custom: true}},
	}}}}
	out, err := chat{}.EncodeCall(context.Background(), c, &dialect.Target{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":""}}]`
	if !strings.Contains(string(out.Body), want) {
		t.Errorf("no %s in\n%s", want, out.Body)
	}
}
