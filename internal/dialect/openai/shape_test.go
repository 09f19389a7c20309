package openai_test

import (
	"encoding/json"
	"slices"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/openai"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func scan(t testing.TB, body string) *jsonedit.Doc {
	t.Helper()
	var d jsonedit.Doc
	if err := jsonedit.Scan([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

func params(kv ...string) []dialect.Param {
	var ps []dialect.Param
	for i := 0; i < len(kv); i += 2 {
		ps = append(ps, dialect.Param{Key: kv[i], Raw: json.RawMessage(kv[i+1])})
	}
	return ps
}

func TestShape(t *testing.T) {
	t.Parallel()
	const chat = `{"model":"gpt-4o", "messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Hi"}]}`
	mistral := &dialect.RequestRules{
		Rename:      []fields.Rename{{Path: "max_completion_tokens", To: "max_tokens"}, {Path: "seed", To: "random_seed"}},
		Swap:        []dialect.Swap{{Path: "tool_choice", Values: map[string]string{`"required"`: `"any"`}}},
		ModelPrefix: "mistralai.", SystemRole: true, StreamUsage: true,
	}
	switched := &dialect.RequestRules{ThinkingSwitch: true}
	asks := &dialect.RequestRules{StreamUsage: true}
	for _, c := range []struct {
		name         string
		ep           llm.Endpoint
		input        string
		s            dialect.Shaping
		want         string
		stream, asks bool
	}{
		{"nothing", llm.ChatComplete, chat, dialect.Shaping{}, chat, false, false},
		{"a model", llm.ChatComplete, `{"model":"@prod/gpt-4o","stream":false}`, dialect.Shaping{Model: "gpt-4o"}, `{"model":"gpt-4o","stream":false}`, false, false},
		{"a model that was not sent", llm.ChatComplete, `{}`, dialect.Shaping{Model: "gpt-4o"}, `{"model":"gpt-4o"}`, false, false},
		{"default, override and drop in their order", llm.ChatComplete, `{"temperature":1,"top_p":0.50,"user":"u","stop":["x"]}`,
			dialect.Shaping{Default: params("temperature", "0", "seed", "7", "n", "2"), Override: params("top_p", "0.9", "n", "1", "metadata", `{"a":"b"}`), Drop: []string{"user", "metadata.a", "seed"}},
			`{"temperature":1,"top_p":0.9,"stop":["x"],"n":1,"metadata":{}}`, false, false},
		{"drops are about the body as it came", llm.ChatComplete, `{"stop":["a","b","c"]}`, dialect.Shaping{Drop: []string{"stop[0]", "stop[1]"}}, `{"stop":["c"]}`, false, false},
		{"the provider's rules", llm.ChatComplete, `{"model":"mistralai.mistral-large","messages":[{"role": "developer"}],"max_completion_tokens": 5,"seed":1,"tool_choice":"required"}`,
			dialect.Shaping{Rules: mistral}, `{"model":"mistral-large","messages":[{"role": "system"}],"max_tokens": 5,"random_seed":1,"tool_choice":"any"}`, false, false},
		{"the provider's rules on what the target set", llm.ChatComplete, `{"model":"x"}`,
			dialect.Shaping{Model: "mistralai.large", Override: params("max_completion_tokens", "9"), Rules: mistral}, `{"model":"large","max_tokens":9}`, false, false},
		{"the provider's defaults and drops", llm.ChatComplete, `{"model":"x","logprobs":true}`,
			dialect.Shaping{Rules: &dialect.RequestRules{Default: params("safe", "true"), Drop: []string{"logprobs"}}}, `{"model":"x","safe":true}`, false, false},
		{"roles of other surfaces stay", llm.CreateModelResponse, `{"messages":[{"role":"developer"}]}`, dialect.Shaping{Rules: mistral}, `{"messages":[{"role":"developer"}]}`, false, false},
		{"usage is asked for", llm.ChatComplete, `{"stream":true}`, dialect.Shaping{Rules: asks}, `{"stream":true,"stream_options":{"include_usage":true}}`, true, true},
		{"twins of the wish for usage", llm.ChatComplete, `{"stream":true,"stream_options":{"include_usage":true,"include_usage":false}}`, dialect.Shaping{Rules: asks}, `{"stream":true,"stream_options":{"include_usage":true}}`, true, true},
		{"usage is asked for against a no", llm.Complete, `{"stream":true,"stream_options":{"include_usage":false,"x":1}}`, dialect.Shaping{Rules: asks}, `{"stream":true,"stream_options":{"include_usage":true,"x":1}}`, true, true},
		{"usage was asked for", llm.ChatComplete, `{"stream":true,"stream_options":{"include_usage":true}}`, dialect.Shaping{Rules: asks}, `{"stream":true,"stream_options":{"include_usage":true}}`, true, false},
		{"usage was asked for by the target", llm.ChatComplete, `{"stream":true}`, dialect.Shaping{Rules: asks, Override: params("stream_options", `{"include_usage":true}`)}, `{"stream":true,"stream_options":{"include_usage":true}}`, true, false},
		{"usage may not be asked for", llm.ChatComplete, `{"stream":true}`, dialect.Shaping{Rules: asks, Drop: []string{"stream_options"}}, `{"stream":true}`, true, false},
		{"usage is not understood", llm.ChatComplete, `{"stream":true}`, dialect.Shaping{}, `{"stream":true}`, true, false},
		{"thinking is switched off", llm.ChatComplete, `{"reasoning_effort":"none","n":1}`, dialect.Shaping{Rules: switched}, `{"n":1,"thinking":{"type":"disabled"}}`, false, false},
		{"thinking is switched off by the target", llm.ChatComplete, `{"reasoning_effort":"high"}`, dialect.Shaping{Rules: switched, Override: params("reasoning_effort", `"none"`)}, `{"thinking":{"type":"disabled"}}`, false, false},
		{"thinking that the caller has a word for", llm.ChatComplete, `{"reasoning_effort":"none","thinking":{"type":"enabled"}}`, dialect.Shaping{Rules: switched}, `{"thinking":{"type":"enabled"}}`, false, false},
		{"thinking that goes on", llm.ChatComplete, `{"reasoning_effort":"high"}`, dialect.Shaping{Rules: switched}, `{"reasoning_effort":"high"}`, false, false},
		{"thoughts given back in the content", llm.ChatComplete, `{"messages":[{"role":"user","content":"x","name":"a"},{"role":"assistant","content":"b","name":"c","content_blocks":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":"c","content_blocks":[{"type":"text","text":"c"}]}]}`,
			dialect.Shaping{Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInContent}, Drop: []string{"messages[*].name"}},
			`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]},{"role":"assistant","content":"c"}]}`, false, false},
		{"a count without what others signed", llm.MessagesCountTokens, `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"__thought__:"},{"type":"text","text":"b"}]}]}`,
			dialect.Shaping{},
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"b"}]}]}`, false, false},
		{"thoughts that have no place", llm.ChatComplete, `{"messages":[{"role":"assistant","reasoning_content":"old","content":"b","content_blocks":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content_blocks":[{"type":"text","text":"c"}]}]}`,
			dialect.Shaping{},
			`{"messages":[{"role":"assistant","reasoning_content":"old","content":"b"},{"role":"assistant","content":"c"}]}`, false, false},
		{"thoughts given back beside", llm.ChatComplete, `{"messages":[{"role":"assistant","reasoning_content":"old","content":"b","content_blocks":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]},{"role":"assistant","reasoning_content":"kept","content":"c"}]}`,
			dialect.Shaping{Rules: &dialect.RequestRules{ReasoningField: dialect.ReasoningInSeparateField}},
			`{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"},{"role":"assistant","reasoning_content":"kept","content":"c"}]}`, false, false},
		{"usage of another surface", llm.CreateModelResponse, `{"stream":true}`, dialect.Shaping{Rules: asks}, `{"stream":true}`, true, false},
		{"no stream", llm.ChatComplete, `{"stream":false}`, dialect.Shaping{Rules: asks}, `{"stream":false}`, false, false},
		{"a stream by override", llm.ChatComplete, `{"stream":false}`, dialect.Shaping{Rules: asks, Override: params("stream", "true")}, `{"stream":true,"stream_options":{"include_usage":true}}`, true, true},
		{"a stream by default", llm.ChatComplete, `{}`, dialect.Shaping{Default: params("stream", "true")}, `{"stream":true}`, true, false},
		{"a stream that is dropped", llm.ChatComplete, `{"stream":true,"n":1}`, dialect.Shaping{Rules: asks, Drop: []string{"stream"}}, `{"n":1}`, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := scan(t, c.input)
			got := openai.Shape(c.ep, d, c.s)
			if out := string(d.Apply(got.Edits)); out != c.want || got.Stream != c.stream || got.AddedUsageRequest != c.asks {
				t.Errorf("stream %v, asked %v\n got %s\nwant %s", got.Stream, got.AddedUsageRequest, out, c.want)
			}
		})
	}
}

func TestShapeOfNothingDoesNotAllocate(t *testing.T) {
	d := scan(t, `{"model":"gpt-4o","messages":[],"stream":true}`)
	rules := &dialect.RequestRules{}
	if n := testing.AllocsPerRun(100, func() {
		if s := openai.Shape(llm.ChatComplete, d, dialect.Shaping{Rules: rules}); len(s.Edits) != 0 || !s.Stream {
			t.Fatal(s)
		}
		if err := openai.Check(llm.ChatComplete, d, dialect.Shaping{Rules: rules}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// What has no place of the thoughts that callers of chat give back is named.
func TestShapeTellsWhichThoughtsItDrops(t *testing.T) {
	t.Parallel()
	const body = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"b","content_blocks":[{"type":"thinking","thinking":"","signature":"s"},` +
		`{"type":"redacted_thinking","data":"d"},{"type":"thinking","thinking":"hm"},{"type":"text","text":"b"}]}]}`
	for field, want := range map[string][]int{
		"": {0, 1, 2}, dialect.ReasoningInSeparateField: {0, 1}, dialect.ReasoningInContent: {0, 1}, dialect.ReasoningInDetails: {0, 1, 2},
	} {
		var lost []string
		for _, i := range want {
			lost = append(lost, fields.ElementPath("messages[1].content_blocks", i))
		}
		got := openai.Shape(llm.ChatComplete, scan(t, body), dialect.Shaping{Rules: &dialect.RequestRules{ReasoningField: field}}).Unsupported
		if !slices.Equal(got, lost) {
			t.Errorf("%q: dropped %q, want %q", field, got, lost)
		}
	}
}

// What the provider refuses is named where the caller says it, unless that says nothing, the
// config drops it anyway, or it is the model, which stands elsewhere.
func TestShapeTellsWhatItDrops(t *testing.T) {
	t.Parallel()
	rules := &dialect.RequestRules{Drop: []string{"model", "user", "store", "logprobs", "messages[*].name", "messages[*].annotations", "messages[*].content[*].refusal"}}
	for _, c := range []struct {
		body string
		drop []string
		want []string
	}{
		{`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, nil, nil},
		{`{"user":"u","store":false,"logprobs":null}`, nil, []string{"user"}},
		{`{"user":"u","store":true,"logprobs":true}`, []string{"user"}, []string{"store", "logprobs"}},
		{`{"messages":[{"name":"a","annotations":[]},{"annotations":[{}],"content":[{"refusal":""},{"text":"x"}]}]}`, nil,
			[]string{"messages[0].name", "messages[1].annotations", "messages[1].content[0].refusal"}},
		{`{"messages":[{"n\u0061me":"a"}]}`, nil, []string{"messages[0].name"}},
	} {
		got := openai.Shape(llm.ChatComplete, scan(t, c.body), dialect.Shaping{Drop: c.drop, Rules: rules}).Unsupported
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}
