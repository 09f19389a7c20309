package oracle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func target(model string, fields ...string) *dialect.Target {
	return &dialect.Target{Model: model, Value: func(name string) string {
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == name {
				return fields[i+1]
			}
		}
		return map[string]string{"oracle_compartment_id": "ocid1.compartment.oc1..c"}[name]
	}}
}

// What is sent and what Lost names are the whole of a call.
func TestCallsAreCarriedOrNamed(t *testing.T) {
	t.Parallel()
	for _, surface := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateModelResponse} {
		t.Run(string(surface), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(400) {
				c := dialecttest.RandomCall(rand.New(rand.NewPCG(seed, 7)), dialecttest.Options{Surface: surface, Without: dialecttest.FileIDs})
				out, err := chat{}.EncodeCall(t.Context(), c, target("meta.llama-4-maverick-17b-128e-instruct-fp8"))
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				diff := dialecttest.Diff(dialecttest.Rest(c, out.Dropped), readCall(t, out.Body), dialecttest.Surface, dialecttest.Model, dialecttest.Positions,
					dialecttest.Sources, dialecttest.Developers, dialecttest.Turns, dialecttest.Arguments, dialecttest.ResultNames, dialecttest.FileNames,
					dialecttest.URLTypes, neutral)
				if len(diff) > 0 {
					t.Fatalf("seed %d: %s\nlost %q\nsent %s", seed, strings.Join(diff, "\n"), out.Dropped, out.Body)
				}
			}
		})
	}
}

// neutral leaves out what says nothing to the service: parameters that hold anyway, the
// name of a schema that has none, and whether a text came as a document.
func neutral(c *llm.Call) {
	c.Params = slices.DeleteFunc(c.Params, func(p llm.Param) bool {
		return p.Name == "store" && string(p.Raw) == "false"
	})
	if c.Format != nil && c.Format.Name == "" {
		c.Format.Name = "output"
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			if p := &c.Messages[i].Parts[k]; p.Media != nil && p.Media.Plain {
				*p = llm.Part{Kind: llm.TextPart, Text: p.Media.Data}
			}
		}
	}
}

const opening = `{"compartmentId":"ocid1.compartment.oc1..c","servingMode":{"servingType":"ON_DEMAND","modelId":"meta.llama-3.3-70b-instruct"},"chatRequest":{"apiFormat":"GENERIC",`

func TestEncodeCall(t *testing.T) {
	t.Parallel()
	strict := true
	user := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Index: -1, Text: "Hi"}}}
	const hi = `"messages":[{"role":"USER","content":[{"type":"TEXT","text":"Hi"}]}]`
	cases := []struct {
		name    string
		call    llm.Call
		want    string // of the chat request, behind apiFormat
		dropped []string
	}{
		{name: "plain", call: llm.Call{Messages: []llm.Message{user}}, want: hi + `}}`},
		{
			name: "parameters", want: hi + `,"temperature":0.5,"topK":40,"isParallelToolCalls":false,"reasoningEffort":"LOW","stop":["x"],"maxTokens":10,"logProbs":3}}`,
			call: llm.Call{Surface: llm.ChatComplete, Messages: []llm.Message{user}, Params: []llm.Param{
				{Name: llm.MaxTokens, From: "max_tokens", Raw: []byte("9")}, {Name: llm.MaxCompletionTokens, From: "max_completion_tokens", Raw: []byte("10")},
				{Name: llm.Stop, Raw: []byte(`"x"`)}, {Name: llm.ReasoningEffort, Raw: []byte(`"low"`)}, {Name: "temperature", Raw: []byte("0.5")},
				{Name: "top_k", Raw: []byte("40")}, {Name: llm.ParallelToolCalls, Raw: []byte("false")}, {Name: "logprobs", Raw: []byte("true")},
				{Name: "top_logprobs", Raw: []byte("3")}, {Name: llm.User, From: "user", Raw: []byte(`"u"`)}, {Name: llm.StreamOptions, Raw: []byte(`{"include_usage":true}`)},
			}},
			dropped: []string{"user"},
		},
		{
			name: "stream with tools", want: hi + `,"tools":[{"type":"FUNCTION","name":"f","description":"d","parameters":{"type":"object"}}],"toolChoice":{"type":"FUNCTION","name":"f"},"isStream":true,"streamOptions":{"isIncludeUsage":true}}}`,
			call: llm.Call{Surface: llm.ChatComplete, Stream: true, Messages: []llm.Message{user}, Choice: llm.ToolChoice{Mode: "tool", Name: "f", From: "tool_choice"}, Tools: []llm.Tool{
				{Type: llm.Function, Name: "f", Description: "d", Schema: []byte(`{"type":"object"}`), Strict: &strict, Cache: &llm.Cache{}},
				{Type: "web_search", Index: 1, Raw: []byte(`{}`)},
			}},
			dropped: []string{"tools[0].function.strict", "tools[0].cache_control", "tools[1]"},
		},
		{
			name: "form of the answer", want: hi + `,"responseFormat":{"type":"JSON_SCHEMA","jsonSchema":{"name":"n","schema":{"type":"object"},"isStrict":true}}}}`,
			call: llm.Call{Messages: []llm.Message{user}, Format: &llm.Format{Type: "json_schema", Name: "n", Schema: []byte(`{"type":"object"}`), Strict: &strict}},
		},
		{
			name: "form in JSON", want: hi + `,"tools":[{"type":"FUNCTION","name":"f"}],"toolChoice":{"type":"REQUIRED"},"responseFormat":{"type":"JSON_OBJECT"}}}`,
			call: llm.Call{Messages: []llm.Message{user}, Format: &llm.Format{Type: "json_object"}, Tools: []llm.Tool{{Type: llm.Function, Name: "f"}}, Choice: llm.ToolChoice{Mode: "required"}},
		},
		{
			name: "tool turns", want: `"messages":[{"role":"SYSTEM","content":[{"type":"TEXT","text":"Be brief."}]},` +
				`{"role":"ASSISTANT","content":[{"type":"TEXT","text":"Let me see."}],"toolCalls":[{"id":"a","type":"FUNCTION","name":"f","arguments":"{}"},{"id":"b","type":"FUNCTION","name":"g","arguments":"{\"x\":1}"}]},` +
				`{"role":"TOOL","toolCallId":"a","content":[{"type":"TEXT","text":"sunny"}]},{"role":"TOOL","toolCallId":"b","content":[{"type":"TEXT","text":"Error: gone"},{"type":"IMAGE","imageUrl":{"url":"https://e.com/x.png"}}]}]}}`,
			call: llm.Call{Messages: []llm.Message{
				{Role: llm.RoleDeveloper, Parts: []llm.Part{{Text: "Be brief."}}},
				{Role: llm.RoleAssistant, Index: 1, Parts: []llm.Part{{Kind: llm.ReasoningPart, Text: "hm"}, {Index: 1, Text: "Let me see."},
					{Kind: llm.CallPart, Index: 2, Call: &llm.ToolCall{ID: "a", Name: "f"}}, {Kind: llm.CallPart, Index: 3, Signature: "s", Call: &llm.ToolCall{ID: "b", Name: "g", Arguments: `{"x":1}`}}}},
				{Role: llm.RoleTool, Index: 2, Parts: []llm.Part{
					{Kind: llm.ResultPart, Result: &llm.ToolResult{ID: "a", Parts: []llm.Part{{Text: "sunny"}}}},
					{Kind: llm.ResultPart, Index: 1, Result: &llm.ToolResult{ID: "b", Error: true, Parts: []llm.Part{{Text: "gone"}, {Kind: llm.ImagePart, Media: &llm.Media{URL: "https://e.com/x.png"}}}}},
				}},
				{Role: llm.RoleAssistant, Index: 3, Parts: []llm.Part{{Kind: llm.SealedPart, Text: "x"}}},
			}},
			dropped: []string{"messages[1].content[0]", "messages[1].content[3].signature", "messages[3].content[0]"},
		},
		{
			name: "media", want: `"messages":[{"role":"USER","name":"ann","content":[{"type":"IMAGE","imageUrl":{"url":"data:image/png;base64,QQ==","detail":"LOW"}},{"type":"AUDIO","audioUrl":{"url":"data:audio/wav;base64,QQ=="}},` +
				`{"type":"VIDEO","videoUrl":{"url":"https://e.com/v.mp4"}},{"type":"DOCUMENT","documentUrl":{"url":"data:application/pdf;base64,QQ=="}},{"type":"TEXT","text":"text"}]}]}}`,
			call: llm.Call{Messages: []llm.Message{{Role: llm.RoleUser, Name: "ann", Parts: []llm.Part{
				{Kind: llm.ImagePart, Media: &llm.Media{MIME: "image/png", Data: "QQ==", Detail: "low"}}, {Kind: llm.AudioPart, Media: &llm.Media{Format: "wav", Data: "QQ=="}},
				{Kind: llm.FilePart, Media: &llm.Media{MIME: "video/mp4", URL: "https://e.com/v.mp4"}}, {Kind: llm.FilePart, Media: &llm.Media{MIME: "application/pdf", Data: "QQ=="}},
				{Kind: llm.FilePart, Media: &llm.Media{MIME: "text/plain", Data: "text", Plain: true}},
			}}}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := chat{}.EncodeCall(t.Context(), &c.call, target("meta.llama-3.3-70b-instruct"))
			if err != nil || string(out.Body) != opening+c.want || !slices.Equal(out.Dropped, c.dropped) {
				t.Errorf("%v, lost %q\ngot  %s\nwant %s", err, out.Dropped, out.Body, opening+c.want)
			}
		})
	}
}

func TestServing(t *testing.T) {
	t.Parallel()
	c := &llm.Call{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "Hi"}}}}, Params: []llm.Param{{Name: llm.MaxTokens, Raw: []byte("9")}}}
	out, err := chat{}.EncodeCall(t.Context(), c, target("ocid1.generativeaiendpoint.oc1..e", "oracle_serving_mode", "DEDICATED"))
	if err != nil || !strings.Contains(string(out.Body), `"servingMode":{"servingType":"DEDICATED","endpointId":"ocid1.generativeaiendpoint.oc1..e"}`) {
		t.Errorf("%v: %s", err, out.Body)
	}
	out, err = chat{}.EncodeCall(t.Context(), c, target("openai.gpt-5"))
	if err != nil || !strings.Contains(string(out.Body), `"maxCompletionTokens":9`) {
		t.Errorf("%v: %s", err, out.Body)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]llm.Part{
		"image by id":        {Kind: llm.ImagePart, Media: &llm.Media{FileID: "file-1"}},
		"part of another":    {Kind: llm.OpaquePart, Shape: "anthropic", Raw: []byte(`{}`)},
		"document by its id": {Kind: llm.FilePart, Media: &llm.Media{FileID: "file-1", MIME: "application/pdf"}},
	} {
		c := &llm.Call{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{part}}}}
		_, err := chat{}.EncodeCall(t.Context(), c, target("m"))
		if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != "messages[0].content[0]" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
