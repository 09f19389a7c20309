package oracle

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

const command = "cohere.command-a-03-2025"

// readHistory reads a request in Cohere's form as a caller of the hub would have meant it.
// It is written apart from the encoder, so that what is lost on the way shows. Calls get
// ids by their order.
func readHistory(t testing.TB, body []byte) *llm.Call {
	t.Helper()
	type call struct {
		Name       string
		Parameters json.RawMessage
	}
	type result struct {
		Call    call
		Outputs []struct{ Output string }
	}
	var outer struct {
		ServingMode struct{ ModelID string }
		ChatRequest struct {
			APIFormat, Message, PreambleOverride string
			IsStream                             bool
			ChatHistory                          []struct {
				Role, Message string
				ToolCalls     []call
				ToolResults   []result
			}
			ToolResults []result
		}
	}
	decode(t, body, &outer)
	r := outer.ChatRequest
	c := &llm.Call{Model: outer.ServingMode.ModelID, Stream: r.IsStream}
	text := func(role llm.Role, s string) llm.Message {
		return llm.Message{Role: role, Parts: []llm.Part{{Text: s}}}
	}
	results := func(list []result) llm.Message {
		m := llm.Message{Role: llm.RoleTool}
		for _, r := range list {
			m.Parts = append(m.Parts, llm.Part{Kind: llm.ResultPart, Result: &llm.ToolResult{Name: r.Call.Name, Parts: []llm.Part{{Text: r.Outputs[0].Output}}}})
		}
		return m
	}
	if r.PreambleOverride != "" {
		c.Messages = append(c.Messages, text(llm.RoleSystem, r.PreambleOverride))
	}
	for _, h := range r.ChatHistory {
		switch h.Role {
		case "TOOL":
			c.Messages = append(c.Messages, results(h.ToolResults))
		case "CHATBOT":
			m := llm.Message{Role: llm.RoleAssistant}
			if h.Message != "" {
				m.Parts = append(m.Parts, llm.Part{Text: h.Message})
			}
			for _, tc := range h.ToolCalls {
				m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{Name: tc.Name, Arguments: string(tc.Parameters)}})
			}
			c.Messages = append(c.Messages, m)
		case "USER", "SYSTEM":
			c.Messages = append(c.Messages, text(llm.Role(strings.ToLower(h.Role)), h.Message))
		default:
			t.Fatalf("a turn of %q", h.Role)
		}
	}
	if len(r.ToolResults) > 0 {
		c.Messages = append(c.Messages, results(r.ToolResults))
	} else if r.Message != "" {
		c.Messages = append(c.Messages, text(llm.RoleUser, r.Message))
	}
	return c
}

// What Cohere's form tells of a conversation and what Lost names are the whole of it.
func TestCohereConversations(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		sent := 0
		for seed := range uint64(400) {
			c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 11)), dialecttest.Options{
				Surface: surface, Without: dialecttest.FileIDs | dialecttest.Images | dialecttest.Files | dialecttest.Audio | dialecttest.Media,
			})
			out, err := chat{}.EncodeCall(t.Context(), c, target(command))
			if err != nil {
				t.Fatalf("%s %d: %v", surface, seed, err)
			}
			sent++
			diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), readHistory(t, out.Body), dialecttest.Surface, dialecttest.Model, dialecttest.Positions,
				dialecttest.Developers, dialecttest.Turns, dialecttest.Texts("\n"), leading, onlyContent)
			if len(diff) > 0 {
				t.Fatalf("%s %d: %s\nlost %q\nsent %s", surface, seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
			}
		}
		if sent == 0 {
			t.Errorf("%s: nothing was sent", surface)
		}
	}
}

// leading joins what the system says before everybody else.
func leading(c *llm.Call) {
	for len(c.Messages) > 1 && c.Messages[0].Role == llm.RoleSystem && c.Messages[1].Role == llm.RoleSystem {
		one := llm.Call{Messages: []llm.Message{{Role: llm.RoleSystem, Parts: append(slices.Clone(c.Messages[0].Parts), c.Messages[1].Parts...)}}}
		dialecttest.Texts("\n")(&one)
		c.Messages = append(one.Messages, c.Messages[2:]...)
	}
}

// onlyContent leaves out all but what is said: ids of calls, which the form does not have, and
// how results, refusals and the rest of a request are written, which the tables show.
func onlyContent(c *llm.Call) {
	c.Tools, c.Params, c.Format, c.Choice = nil, nil, nil, llm.ToolChoice{}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			p := &c.Messages[i].Parts[k]
			switch {
			case p.Kind == llm.RefusalPart:
				p.Kind = llm.TextPart
			case p.Call != nil:
				p.Call.ID = ""
			case p.Result != nil:
				texts := []string{}
				for _, r := range p.Result.Parts {
					texts = append(texts, r.Text)
				}
				text := strings.Join(texts, "\n")
				if p.Result.Error {
					text = "Error: " + text
				}
				p.Result.ID, p.Result.Error, p.Result.Parts = "", false, []llm.Part{{Text: text}}
			}
		}
	}
	dialecttest.Texts("\n")(c)
}

func TestCohereRequest(t *testing.T) {
	t.Parallel()
	strict := true
	user := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Index: -1, Text: "Hi"}}}
	cases := []struct {
		name    string
		call    llm.Call
		want    string // behind apiFormat
		dropped []string
	}{
		{name: "plain", call: llm.Call{Messages: []llm.Message{user}, Stream: true}, want: `"message":"Hi","isStream":true,"streamOptions":{"isIncludeUsage":true}}}`},
		{
			name: "parameters", want: `"preambleOverride":"Be brief.\nAnd kind.","message":"Hi","responseFormat":{"type":"JSON_OBJECT","schema":{"type":"object"}},"topP":0.5,"documents":[{"a":"b"}],"safetyMode":"STRICT","topK":3,"stopSequences":["x"],"maxTokens":9}}`,
			call: llm.Call{
				Surface: llm.ChatComplete, Format: &llm.Format{Type: "json_schema", Name: "n", Schema: []byte(`{"type":"object"}`)},
				Messages: []llm.Message{{Role: llm.RoleSystem, Parts: []llm.Part{{Text: "Be brief."}}}, {Role: llm.RoleDeveloper, Parts: []llm.Part{{Text: "And kind."}}}, user},
				Params: []llm.Param{
					{Name: "top_p", Raw: []byte("0.5")}, {Name: "top_k", Raw: []byte("3")}, {Name: llm.Stop, Raw: []byte(`"x"`)}, {Name: llm.MaxTokens, Raw: []byte("9")},
					{Name: "documents", Raw: []byte(`[{"a":"b"}]`)}, {Name: "safety_mode", Raw: []byte(`"strict"`)}, {Name: "n", From: "n", Raw: []byte("2")},
				},
			},
			dropped: []string{"n"},
		},
		{
			name: "tools", want: `"message":"Hi","tools":[{"name":"f","description":"d","parameterDefinitions":{"a \"b\"":{"type":"str","description":"city","isRequired":true},` +
				`"n":{"type":"list","description":"JSON schema: {\"type\":\"array\",\"items\":{\"type\":\"string\"}}","isRequired":false},"o":{"type":"Any","isRequired":false}}},{"name":"g","description":""}]}}`,
			call: llm.Call{Surface: llm.ChatComplete, Messages: []llm.Message{user}, Choice: llm.ToolChoice{Mode: "required", From: "tool_choice"}, Tools: []llm.Tool{
				{Type: llm.Function, Name: "f", Description: "d", Strict: &strict, Schema: []byte(`{"type":"object","$defs":{},"properties":{"a \"b\"":{"type":"string","description":"city"},"n":{"type":"array","items":{"type":"string"}},"o":{}},"required":["a \"b\""]}`)},
				{Type: "web_search", Index: 1, Raw: []byte(`{}`)}, {Type: llm.Function, Name: "g", Index: 2},
			}},
			dropped: []string{"tool_choice", "tools[0].function.parameters.$defs", "tools[0].function.strict", "tools[1]"},
		},
		{
			name: "no tools", want: `"message":"Hi"}}`,
			call: llm.Call{Messages: []llm.Message{user}, Choice: llm.ToolChoice{Mode: "none", From: "tool_choice"}, Tools: []llm.Tool{{Type: llm.Function, Name: "f"}}},
		},
	}
	head := strings.NewReplacer("meta.llama-3.3-70b-instruct", command, generic, cohere).Replace(opening)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := chat{}.EncodeCall(t.Context(), &c.call, target(command))
			if err != nil || string(out.Body) != head+c.want || !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("%v, lost %q\ngot  %s\nwant %s", err, out.Dropped, out.Body, head+c.want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, to := range map[string]*dialect.Target{
		"COHERE": target(command), "GENERIC": target("meta.llama-3.3-70b-instruct"),
	} {
		if got := format(to); got != want {
			t.Errorf("%s is asked in %s", to.Model, got)
		}
	}
	if got := format(target("ocid1.generativeaiendpoint.oc1..e", "oracle_api_format", cohere)); got != cohere {
		t.Errorf("a dedicated endpoint is asked in %s", got)
	}
}

func TestCohereRefusals(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]llm.Message{
		"an image":          {Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.ImagePart, Media: &llm.Media{URL: "https://e.com/x.png"}}}},
		"a list of results": {Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.ResultPart, Result: &llm.ToolResult{Parts: []llm.Part{{Kind: llm.ImagePart, Media: &llm.Media{URL: "https://e.com/x.png"}}}}}}},
	} {
		_, err := chat{}.EncodeCall(t.Context(), &llm.Call{Messages: []llm.Message{m}}, target(command))
		if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || !strings.HasPrefix(f.Param, "messages[0]") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const cohereResponseBody = `{"modelId":"cohere.command-a-03-2025","chatResponse":{"apiFormat":"COHERE","text":"I look.","chatHistory":[{"role":"USER","message":"x"}],"finishReason":"COMPLETE",` +
	`"toolCalls":[{"name":"f","parameters":{"a": 1}},{"name":"g","parameters":null}],"citations":[{"start":0,"end":1}],"errorMessage":null,"usage":{"promptTokens":5,"completionTokens":2,"totalTokens":7}}}`

func TestCohereReply(t *testing.T) {
	t.Parallel()
	r, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(cohereResponseBody)})
	if err != nil {
		t.Fatal(err)
	}
	parts := r.Choices[0].Parts
	if len(parts) != 3 || parts[0].Text != "I look." || parts[1].Call.Arguments != `{"a": 1}` || parts[2].Call.Name != "g" || parts[2].Call.Arguments != "{}" || parts[1].Call.ID == parts[2].Call.ID {
		t.Errorf("parts %+v", parts)
	}
	if r.Choices[0].Finish != llm.FinishToolCalls || r.Usage.TotalTokens != 7 || len(r.Extra) != 1 || r.Extra[0].Name != "citations" {
		t.Errorf("%+v", r)
	}
	for body, code := range map[string]fault.Code{
		`{"chatResponse":{"apiFormat":"COHERE","text":"x"}}`:                                                fault.UpstreamInvalid,
		`{"chatResponse":{"apiFormat":"COHERE","text":"","finishReason":"ERROR","errorMessage":"no room"}}`: fault.UpstreamFailed,
	} {
		if _, err := (chat{}).DecodeResponse(&dialect.Incoming{Body: []byte(body)}); !fault.Has(err, code) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestCohereStream(t *testing.T) {
	t.Parallel()
	event := func(s string) string { return `data: {"apiFormat":"COHERE",` + s + "}\n\n" }
	for name, c := range map[string]struct{ stream, text, calls, finish string }{
		"text":                 {event(`"text":"Hel"`) + event(`"text":"lo"`) + event(`"text":"Hello","chatHistory":[],"finishReason":"COMPLETE","usage":{"promptTokens":5,"completionTokens":2,"totalTokens":7}`), "Hello", "", "stop"},
		"the whole at the end": {event(`"text":"Hello","finishReason":"MAX_TOKENS"`), "Hello", "", "length"},
		"calls told twice":     {event(`"text":"I look."`) + event(`"text":"","toolCalls":[{"name":"f","parameters":{"a":1}},{"name":"g","parameters":{}}]`) + event(`"text":"I look.","toolCalls":[{"name":"f","parameters":{"a":1}},{"name":"g","parameters":{}}],"finishReason":"COMPLETE"`), "I look.", `f{"a":1}g{}`, "tool_calls"},
		"calls at the end":     {event(`"text":"","toolCalls":[{"name":"f","parameters":{"a":1}}],"finishReason":"COMPLETE"`), "", `f{"a":1}`, "tool_calls"},
	} {
		events, err := dialecttest.Read(chat{}.NewDecoder(&dialect.Incoming{}), []byte(c.stream))
		if err != nil || events[len(events)-1].Kind != llm.EventEnd {
			t.Fatalf("%s: %v, %+v", name, err, events)
		}
		r := dialecttest.ResponseOf(events)
		text, calls := "", ""
		for _, p := range r.Choices[0].Parts {
			text += p.Text
			if p.Call != nil {
				calls += p.Call.Name + p.Call.Arguments
			}
		}
		if text != c.text || calls != c.calls || r.Choices[0].Finish.Chat() != c.finish {
			t.Errorf("%s: %q %q %s", name, text, calls, r.Choices[0].Finish.Chat())
		}
	}
	failed := event(`"text":"Hel"`) + event(`"text":"","finishReason":"ERROR","errorMessage":"no room"`)
	events, err := dialecttest.Read(chat{}.NewDecoder(&dialect.Incoming{}), []byte(failed))
	if last := events[len(events)-1]; err != nil || last.Kind != llm.EventFault || last.Text != "no room" {
		t.Errorf("%v, %+v", err, events)
	}
}
