package responses

import (
	"cmp"
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// What goes out as a request for a response and what is named as lost are the whole
// call, whatever surface it came in by.
func TestCallsLoseNothingUnsaid(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		for seed := range uint64(400) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 3)), dialecttest.Options{Surface: surface})
			out, err := upstream{}.EncodeCall(context.Background(), c, &dialect.Target{Model: c.Model})
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			if !jsonedit.Valid(out.Body) {
				t.Fatalf("%s %d: no JSON: %s", surface, seed, out.Body)
			}
			decoded, err := client{}.DecodeCall(out.Body)
			if err != nil {
				t.Fatalf("%s %d: %v\n%s", surface, seed, err, out.Body)
			}
			loose := []dialecttest.Loose{
				useNativeParams, dialecttest.Surface, dialecttest.Positions, dialecttest.Sources, dialecttest.ResultNames, dialecttest.DocumentNames, dialecttest.URLTypes, dialecttest.Turns,
			}
			if diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), decoded, loose...); diff != nil {
				t.Fatalf("%s %d, lost %q:\n%s\n%s", surface, seed, out.Dropped, strings.Join(diff, "\n"), out.Body)
			}
		}
	}
}

// useNativeParams says in this shape's words what it has only one of.
func useNativeParams(c *llm.Call) {
	var params []llm.Param
	effort := false
	for _, p := range c.Params {
		switch p.Name {
		case llm.MaxCompletionTokens:
			p.Name = llm.MaxTokens
		case llm.ReasoningEffort:
			effort = true
		case "store", "include", "logprobs": // answered by the gateway, or asked in other words
			continue
		case "n", "presence_penalty", "logit_bias": // neutral values are not sent
			continue
		case llm.Thinking:
			if level := conversation.EffortOf(p.Raw); level != "" && !effort {
				p.Name, p.Raw = llm.ReasoningEffort, jsonedit.Quote(level)
			}
		}
		params = append(params, p)
	}
	c.Params = params
	if f := c.Format; f != nil && f.Type == "json_schema" {
		f.Name = cmp.Or(f.Name, "output")
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Strict == nil {
			t.Strict = new(bool)
		}
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			part := &c.Messages[i].Parts[k]
			if r := part.Result; r != nil && r.Error {
				r.Parts, r.Error = failed(r.Parts), false
			}
			if m := part.Media; m != nil && m.Plain {
				part.Kind, part.Text, part.Media = llm.TextPart, m.Data, nil
			}
		}
	}
}

func decode(t *testing.T, body string) *llm.Call {
	t.Helper()
	c, err := client{}.DecodeCall([]byte(body))
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return c
}

// A conversation as agents send it back: thoughts, a message and calls are one turn.
func TestDecodeTurns(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"model":"m","instructions":"Be brief","input":[
		{"role":"user","content":"Weather in Rome and Oslo?"},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Two"},{"type":"summary_text","text":"cities"}],"encrypted_content":"EqQB"},
		{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Wait","annotations":[],"logprobs":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Rome\"}","status":"completed"},
		{"type":"function_call","call_id":"call_2","name":"weather","arguments":"{}"},
		{"type":"function_call_output","call_id":"call_1","output":"warm"},
		{"type":"function_call_output","call_id":"call_2","output":[{"type":"input_text","text":"cold"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},
		{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"sealed"},
		{"type":"reasoning","id":"rs_3","summary":[]}
	]}`)
	want := &llm.Call{
		Surface: llm.CreateModelResponse, Model: "m",
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Index: -1, Parts: []llm.Part{{Index: -1, Text: "Be brief"}}},
			{Role: llm.RoleUser, Parts: []llm.Part{{Index: -1, Text: "Weather in Rome and Oslo?"}}},
			{Role: llm.RoleAssistant, Index: 1, Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Index: -1, ID: "rs_1", Text: "Two\n\ncities", Signature: "EqQB", Shape: "anthropic"},
				{Index: -2, ID: "msg_1", Text: "Wait"},
				{Kind: llm.CallPart, Index: -3, ID: "fc_1", Call: &llm.ToolCall{ID: "call_1", Name: "weather", Arguments: `{"city":"Rome"}`}},
				{Kind: llm.CallPart, Index: -4, Call: &llm.ToolCall{ID: "call_2", Name: "weather", Arguments: "{}"}},
			}},
			{Role: llm.RoleTool, Index: 5, Parts: []llm.Part{{Kind: llm.ResultPart, Index: -1, Result: &llm.ToolResult{
				ID: "call_1", Name: "weather", Parts: []llm.Part{{Index: -1, Text: "warm"}},
			}}}},
			{Role: llm.RoleTool, Index: 6, Parts: []llm.Part{{Kind: llm.ResultPart, Index: -1, Result: &llm.ToolResult{
				ID: "call_2", Name: "weather", Parts: []llm.Part{{Text: "cold"}, {Kind: llm.ImagePart, Index: 1, Media: &llm.Media{MIME: "image/png", Data: "aGk="}}},
			}}}},
			{Role: llm.RoleAssistant, Index: 7, Parts: []llm.Part{{Kind: llm.ReasoningPart, Index: -1, ID: "rs_2", Signature: "sealed", Shape: "anthropic"}}},
		},
	}
	if diff := dialecttest.Diff(want, c); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
	if path := c.Path(&c.Messages[2], c.Messages[2].Parts[3].Index); path != "input[4]" {
		t.Errorf("the second call stands at %s", path)
	}
}

// Media come by URL, inside the call and as files.
func TestDecodeMedia(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"input":[{"role":"user","content":["bare",
		{"type":"input_image","image_url":"https://example.com/a.png","detail":"low"},
		{"type":"input_image","file_id":"file_1"},
		{"type":"input_image","image_url":{"url":"data:image/jpeg;base64,aGk="}},
		{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="},
		{"type":"input_file","filename":"b.csv","file_data":"YSxi"},
		{"type":"input_file","file_url":"https://example.com/c.pdf"},
		{"type":"input_file","file_id":"file_2"},
		{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},
		{"type":"input_text","text":"t","cache_control":{"type":"ephemeral","ttl":"1h"},"prompt_cache_breakpoint":{"mode":"explicit"}}
	]}]}`)
	path := "input[0].content[9].prompt_cache_breakpoint"
	want := []llm.Part{
		{Text: "bare"},
		{Kind: llm.ImagePart, Index: 1, Media: &llm.Media{MIME: "image/png", URL: "https://example.com/a.png", Detail: "low"}},
		{Kind: llm.ImagePart, Index: 2, Media: &llm.Media{FileID: "file_1"}},
		{Kind: llm.ImagePart, Index: 3, Media: &llm.Media{MIME: "image/jpeg", Data: "aGk="}},
		{Kind: llm.FilePart, Index: 4, Media: &llm.Media{MIME: "application/pdf", Data: "JVBERg==", Name: "a.pdf"}},
		{Kind: llm.FilePart, Index: 5, Media: &llm.Media{MIME: "text/csv", Data: "YSxi", Name: "b.csv"}},
		{Kind: llm.FilePart, Index: 6, Media: &llm.Media{MIME: "application/pdf", URL: "https://example.com/c.pdf"}},
		{Kind: llm.FilePart, Index: 7, Media: &llm.Media{FileID: "file_2"}},
		{Kind: llm.AudioPart, Index: 8, Media: &llm.Media{Data: "UklGRg==", Format: "wav"}},
		{Index: 9, Text: "t", Cache: &llm.Cache{TTL: "1h"}, Extra: []llm.Param{{Name: "prompt_cache_breakpoint", From: path, Raw: []byte(`{"mode":"explicit"}`)}}},
	}
	a, b := llm.Call{Messages: []llm.Message{{Parts: want}}}, llm.Call{Messages: []llm.Message{{Parts: c.Messages[0].Parts}}}
	if diff := dialecttest.Diff(&a, &b); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
}

// What the model said aloud is given back in words.
func TestDecodeSaidAloud(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"input":[{"role":"assistant","content":[{"type":"output_audio","data":"UklG","transcript":"Hi"}]}]}`)
	if p := c.Messages[0].Parts[0]; p.Kind != llm.TextPart || p.Text != "Hi" || len(llm.NewTally(c).Dropped()) > 0 {
		t.Errorf("%+v", p)
	}
}

// Settings are brought under the names that the hub has for them.
func TestDecodeSettings(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"model":"m","input":"hi","stream":true,"store":true,"background":false,"previous_response_id":null,"max_output_tokens":9,"temperature":0.5,
		"text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}},"verbosity":"low"},
		"reasoning":{"effort":"high","summary":"auto"},"include":["reasoning.encrypted_content","message.output_text.logprobs","file_search_call.results"],
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"},"defer_loading":true},
			{"type":"custom","name":"sql","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: /a/"}}],
		"tool_choice":{"type":"function","name":"f"},"x_new":1}`)
	strict := true
	want := &llm.Call{
		Surface: llm.CreateModelResponse, Model: "m", Stream: true,
		Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Index: -1, Text: "hi"}}}},
		Tools: []llm.Tool{
			{Type: llm.Function, Name: "f", Description: "d", Schema: []byte(`{"type":"object"}`), Strict: &strict, Cache: &llm.Cache{},
				Extra: []llm.Param{{Name: "defer_loading", From: "tools[0].defer_loading", Raw: []byte("true")}}},
			{Type: "custom", Name: "sql", Description: "d", Index: 1, Shape: "openai",
				Raw: []byte(`{"type":"custom","custom":{"name":"sql","description":"d","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /a/"}}}}`)},
		},
		Choice: llm.ToolChoice{Mode: "tool", Name: "f", From: "tool_choice"},
		Format: &llm.Format{Type: "json_schema", Name: "n", Schema: []byte(`{"type":"object"}`), Strict: &strict, From: "text.format"},
		Params: []llm.Param{
			{Name: llm.MaxTokens, From: "max_output_tokens", Raw: []byte("9")},
			{Name: "temperature", From: "temperature", Raw: []byte("0.5")},
			{Name: llm.Verbosity, From: "text.verbosity", Raw: []byte(`"low"`)},
			{Name: llm.ReasoningEffort, From: "reasoning.effort", Raw: []byte(`"high"`)},
			{Name: "reasoning.summary", From: "reasoning.summary", Raw: []byte(`"auto"`)},
			{Name: "include", From: "include", Raw: []byte(`["file_search_call.results"]`)},
			{Name: "x_new", From: "x_new", Raw: []byte("1")},
			{Name: "logprobs", From: "include", Raw: []byte("true")},
		},
	}
	if diff := dialecttest.Diff(want, c, dialecttest.Sources); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
}

// What no adapter could do is refused, and the field is named.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	item := func(s string) string { return `{"model":"m","input":[` + s + `]}` }
	for _, c := range []struct{ name, body, param, message string }{
		{"no input", `{"model":"m"}`, "input", "is required"},
		{"an empty list", `{"model":"m","input":[]}`, "input", "at least one"},
		{"nothing but thoughts that cannot be read", item(`{"type":"reasoning","summary":[]}`), "input", "at least one"},
		{"a number", `{"model":"m","input":7}`, "input", "list"},
		{"instructions as a list", `{"input":"x","instructions":[]}`, "instructions", "string"},
		{"a conversation", `{"input":"x","conversation":"conv_1"}`, "conversation", "provider"},
		{"an image in a file", item(`{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/passwd"}]}`), "input[0].content[0].image_url", "https://"},
		{"background", `{"input":"x","background":true}`, "background", "provider"},
		{"a prompt", `{"input":"x","prompt":{"id":"pmpt_1"}}`, "prompt", "provider"},
		{"a response before", `{"input":"x","previous_response_id":"resp_1"}`, "previous_response_id", "provider"},
		{"a reference", item(`{"type":"item_reference","id":"msg_1"}`), "input[0].type", "item_reference"},
		{"a search", item(`{"type":"web_search_call","id":"ws_1","status":"completed"}`), "input[0].type", "web_search_call"},
		{"an unknown role", item(`{"role":"critic","content":"x"}`), "input[0].role", "must be"},
		{"a string as item", item(`"x"`), "input[0]", "object"},
		{"a result without a call", item(`{"type":"function_call_output","call_id":"c","output":"x"}`), "input[0].call_id", "must match a call"},
		{"a result without an id", item(`{"type":"function_call_output","output":"x"}`), "input[0].call_id", "is required"},
		{"a call without an id", item(`{"type":"function_call","name":"f","arguments":"{}"}`), "input[0].call_id", "is required"},
		{"a call without a name", item(`{"type":"function_call","call_id":"c","arguments":"{}"}`), "input[0].name", "is required"},
		{"arguments as an object", item(`{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), "input[0].arguments", "string"},
		{"a part without a type", item(`{"role":"user","content":[{"text":"x"}]}`), "input[0].content[0].type", "is required"},
		{"an unknown part", item(`{"role":"user","content":[{"type":"input_video"}]}`), "input[0].content[0].type", "input_video"},
		{"a text that is none", item(`{"role":"user","content":[{"type":"input_text","text":7}]}`), "input[0].content[0].text", "string"},
		{"a picture from nowhere", item(`{"role":"user","content":[{"type":"input_image"}]}`), "input[0].content[0].image_url", "is required"},
		{"a broken data URL", item(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,*"}]}`), "input[0].content[0].image_url", "base64"},
		{"a broken file", item(`{"role":"user","content":[{"type":"input_file","filename":"a","file_data":"*"}]}`), "input[0].content[0].file_data", "base64"},
		{"an empty file", item(`{"role":"user","content":[{"type":"input_file","filename":"a"}]}`), "input[0].content[0]", "file_data"},
		{"silence", item(`{"role":"user","content":[{"type":"input_audio","input_audio":{"format":"wav"}}]}`), "input[0].content[0].input_audio.data", "is required"},
		{"a tool of the provider's", `{"input":"x","tools":[{"type":"web_search"}]}`, "tools[0].type", "web_search"},
		{"a tool without a type", `{"input":"x","tools":[{"name":"f"}]}`, "tools[0].type", "is required"},
		{"a tool without a name", `{"input":"x","tools":[{"type":"function"}]}`, "tools[0].name", "is required"},
		{"a schema that is none", `{"input":"x","tools":[{"type":"function","name":"f","parameters":"{}"}]}`, "tools[0].parameters", "schema"},
		{"an unknown choice", `{"input":"x","tool_choice":"any"}`, "tool_choice", "auto"},
		{"a choice of a search", `{"input":"x","tool_choice":{"type":"file_search"}}`, "tool_choice.type", "function"},
		{"a choice of another tool", `{"input":"x","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"}}`, "tool_choice.name", "must be the name of a tool"},
		{"two tools of one name", `{"input":"x","tools":[{"type":"function","name":"f"},{"type":"custom","name":"f"}]}`, "tools[1].name", "earlier"},
		{"a word as tool", `{"input":"x","tools":["f"]}`, "tools[0]", "object"},
		{"strictness in words", `{"input":"x","tools":[{"type":"function","name":"f","strict":"yes"}]}`, "tools[0].strict", "true or false"},
		{"a stream in words", `{"input":"x","stream":"yes"}`, "stream", "true or false"},
		{"tokens in words", `{"input":"x","max_output_tokens":"many"}`, "max_output_tokens", "integer"},
		{"a warm temperature", `{"input":"x","temperature":"warm"}`, "temperature", "number"},
		{"reasoning in a word", `{"input":"x","reasoning":"high"}`, "reasoning", "object"},
		{"an effort in numbers", `{"input":"x","reasoning":{"effort":3}}`, "reasoning.effort", "string"},
		{"a text in a word", `{"input":"x","text":"short"}`, "text", "object"},
		{"verbosity in numbers", `{"input":"x","text":{"verbosity":3,"format":{"type":"text"}}}`, "text.verbosity", "string"},
		{"a strict format in words", `{"input":"x","text":{"format":{"type":"json_schema","schema":{},"strict":"yes"}}}`, "text.format.strict", "true or false"},
		{"an inclusion of numbers", `{"input":"x","include":[1]}`, "include[0]", "string"},
		{"a role in numbers", item(`{"role":7,"content":"x"}`), "input[0].role", "string"},
		{"a type in numbers", item(`{"type":7,"role":"user","content":"x"}`), "input[0].type", "string"},
		{"a choice of nothing", `{"input":"x","tool_choice":{"type":"function"}}`, "tool_choice.name", "is required"},
		{"an unknown format", `{"input":"x","text":{"format":{"type":"xml"}}}`, "text.format.type", "json_schema"},
		{"a format without a schema", `{"input":"x","text":{"format":{"type":"json_schema","name":"n"}}}`, "text.format.schema", "schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, err := client{}.DecodeCall([]byte(c.body))
			if err == nil {
				err = toolcalls.Served(call)
			}
			if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != c.param || !strings.Contains(f.Public, c.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Thoughts without the name of a signer are OpenAI's or Claude's, which their form tells; who
// is named gets its signature back.
func TestSignersOfThoughts(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"input":[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[{"text":"hm"}],"encrypted_content":"gAAAAABo"},{"type":"reasoning","summary":[],"encrypted_content":"__thought__gemini:EqQB"}]}`)
	if p := c.Messages[1].Parts; len(p) != 2 || p[0].Signature != "gAAAAABo" || p[0].Shape != "responses" || p[1].Signature != "EqQB" || p[1].Shape != "gemini" {
		t.Errorf("%+v", p)
	}
}

// What every caller gets, or the gateway answers itself, is not lost where no provider
// hears of it.
func TestNothingOfTheGatewaysIsLost(t *testing.T) {
	t.Parallel()
	c := decode(t, `{"input":"x","reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],"store":true,"background":false,"truncation":"disabled","stream_options":{"include_obfuscation":false}}`)
	if dropped := llm.NewTally(c).Dropped(); len(dropped) > 0 {
		t.Errorf("lost %q", dropped)
	}
}

// A custom tool and what came of it go out as they came in.
func TestCustomTools(t *testing.T) {
	t.Parallel()
	const body = `{"model":"m","input":[{"type":"message","role":"user","content":"x"},{"type":"custom_tool_call","call_id":"c","name":"sql","input":"SELECT"},{"type":"custom_tool_call_output","call_id":"c","output":"1"}],` +
		`"tools":[{"type":"custom","name":"sql","description":"d","format":{"type":"grammar","syntax":"lark","definition":"a"}}],"store":false}`
	out, err := upstream{}.EncodeCall(context.Background(), decode(t, body), &dialect.Target{Model: "m"})
	if err != nil || string(out.Body) != body {
		t.Errorf("%v\n%s", err, out.Body)
	}
}

// Tools of a namespace may be wished for by their own names, and stand where the namespace does.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	c, err := client{}.DecodeCall([]byte(`{"input":"x","tools":[{"type":"function","name":"find"},{"type":"namespace","name":"crm__","tools":[{"type":"function","name":"open"}]},` +
		`{"type":"namespace","name":"mail","tools":[{"type":"function","name":"find"},{"type":"custom","name":"send"}]}],"tool_choice":{"type":"function","name":"open"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range c.Tools {
		names = append(names, c.Tools[i].Name+"@"+strconv.Itoa(c.Tools[i].Index))
	}
	if got := strings.Join(names, " "); got != "find@0 crm__open@1 mail__find@2 mail__send@2" || c.Choice.Name != "crm__open" {
		t.Errorf("%s, wished for %s", got, c.Choice.Name)
	}
	for body, param := range map[string]string{
		`{"input":"x","tools":[{"type":"namespace","tools":[]}]}`:                                                                         "tools[0].name",
		`{"input":"x","tools":[{"type":"namespace","name":"n"}]}`:                                                                         "tools[0].tools",
		`{"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]}`:                                           "tools[0].tools[0].name",
		`{"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]}]}`: "tools[0].name",
	} {
		if _, err := (client{}).DecodeCall([]byte(body)); fault.From(err).Param != param {
			t.Errorf("%s: %v, want %s", body, err, param)
		}
	}
}

func FuzzDecodeCall(f *testing.F) {
	f.Add([]byte(`{"input":[{"type":"function_call","call_id":"c","namespace":"n","name":"f","arguments":"{}"},{"type":"web_search_call"}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"custom","name":"g"}]},{"type":"web_search"}]}`))
	f.Add([]byte(`{"input":[{"role":"user","content":[{"type":"input_image","image_url":{"url":""}}]}],"tools":[{}],"text":{"format":1}}`))
	f.Add([]byte(`{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{"},{"type":"function_call_output","call_id":"c","output":[{"type":"refusal","refusal":""}]}],"include":[1]}`))
	f.Add([]byte(`{"input":"x","stream":"yes","reasoning":{"effort":1},"text":{"verbosity":[]},"tools":[{"type":"function","name":"f","strict":0}],"tool_choice":{"type":"function","name":"g"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := client{}.DecodeCall(body)
		if err != nil {
			if fault.From(err).Code != fault.InvalidParameter {
				t.Errorf("%v", err)
			}
			return
		}
		if !jsonedit.Valid(body) {
			return
		}
		out, err := upstream{}.EncodeCall(context.Background(), c, &dialect.Target{Model: "m"})
		if err == nil && !jsonedit.Valid(out.Body) {
			t.Errorf("no JSON: %s", out.Body)
		}
	})
}

// A document in the call has a name, even where the caller gives it none.
func TestDocumentsAreNamed(t *testing.T) {
	t.Parallel()
	c := &llm.Call{Surface: llm.Messages, Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
		{Kind: llm.FilePart, Media: &llm.Media{MIME: "application/pdf", Data: "QQ=="}},
	}}}}
	out, err := upstream{}.EncodeCall(context.Background(), c, &dialect.Target{Model: "gpt-4o"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,QQ=="}`
	if !strings.Contains(string(out.Body), want) {
		t.Errorf("no %s in\n%s", want, out.Body)
	}
}
