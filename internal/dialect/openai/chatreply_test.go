package openai

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/llm"
)

func sample() *llm.Response {
	return &llm.Response{
		ID: "chatcmpl-1", Model: "m-1", Created: 1_700_000_000,
		Choices: []llm.Choice{{
			Finish: llm.FinishToolCalls, Raw: "tool_calls",
			Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Text: "Let me \"see\"", Signature: "sig=="},
				{Kind: llm.SealedPart, Text: "c2VhbGVk"},
				{Kind: llm.TextPart, Text: "It is\nwarm. 😀"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "weather", Arguments: `{"city":"Rome"}`}},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_2", Name: "time", Arguments: `{}`}, Signature: "thought"},
			},
		}},
		Usage: llm.Usage{
			InputTokens: 30, OutputTokens: 12, TotalTokens: 42, CachedTokens: 20, CacheWriteTokens: 3, ReasoningTokens: 5,
			InputAudioTokens: 2, InputImageTokens: 4, OutputImageTokens: 6, Reported: true,
		},
	}
}

func newResponseContext(strict bool, params ...llm.Param) *dialect.ResponseContext {
	return &dialect.ResponseContext{
		Call: &llm.Call{Surface: llm.ChatComplete, Model: "asked", Params: params}, ID: "0123456789", Created: 1_700_000_000, Provider: "anthropic", Strict: strict,
	}
}

var wantsUsage = llm.Param{Name: llm.StreamOptions, Raw: []byte(`{"include_usage": true}`)}

// What one side of the shape writes the other reads as it was.
func TestRepliesComeBack(t *testing.T) {
	t.Parallel()
	body := chat{}.EncodeResponse(nil, sample(), newResponseContext(false))
	decoded, err := chat{}.DecodeResponse(&dialect.Incoming{Body: body})
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if diff := dialecttest.DiffResponses(sample(), decoded); diff != nil {
		t.Errorf("%s\n%s", strings.Join(diff, "\n"), body)
	}
}

// Strict callers see what OpenAI itself would answer, and nothing else.
func TestStrictReply(t *testing.T) {
	t.Parallel()
	const want = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m-1","provider":"anthropic","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"It is\nwarm. 😀","refusal":null,"tool_calls":[` +
		`{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}},` +
		`{"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42,"prompt_tokens_details":{"cached_tokens":20,"audio_tokens":2,"image_tokens":4},` +
		`"completion_tokens_details":{"reasoning_tokens":5,"audio_tokens":0,"image_tokens":6},"cache_read_input_tokens":20,"cache_creation_input_tokens":3}}`
	if got := string(chat{}.EncodeResponse(nil, sample(), newResponseContext(true))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A stream carries what the whole answer does, and reads the same however it is cut.
func TestStreamsComeBack(t *testing.T) {
	t.Parallel()
	enc := chat{}.NewEncoder(newResponseContext(true, wantsUsage))
	var stream []byte
	dialect.Replay(sample(), func(ev *llm.Event) { stream = enc.Append(stream, ev) })
	if !strings.HasSuffix(string(stream), "data: [DONE]\n\n") || strings.Count(string(stream), `"usage"`) != 1 {
		t.Errorf("end or usage: %s", stream)
	}
	events := dialecttest.SplitEverywhere(t, stream, func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
	want := sample()
	want.Created = 0
	parts := want.Choices[0].Parts[2:] // chat's stream has no thoughts for strict callers
	parts[2].Signature = ""
	want.Choices[0].Parts = parts
	if diff := dialecttest.DiffResponses(want, dialecttest.ResponseOf(events)); diff != nil {
		t.Errorf("%s\n%s", strings.Join(diff, "\n"), stream)
	}
}

// The call of a tool that takes free text is of its own type in a stream too.
func TestStreamOfCustomCalls(t *testing.T) {
	t.Parallel()
	response := &llm.Response{ID: "c", Model: "m", Choices: []llm.Choice{{
		Finish: llm.FinishToolCalls, Raw: "tool_calls",
		Parts: []llm.Part{
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "weather", Arguments: `{}`}},
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_2", Name: "sql", Arguments: "SELECT 1", Custom: true}},
		},
	}}}
	a := newResponseContext(true)
	a.Call.Tools = []llm.Tool{{Type: llm.Function, Name: "weather"}, {Type: llm.Custom, Name: "sql"}}
	enc := chat{}.NewEncoder(a)
	var stream []byte
	dialect.Replay(response, func(ev *llm.Event) { stream = enc.Append(stream, ev) })
	for _, want := range []string{
		`{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":""}}`,
		`{"index":1,"id":"call_2","type":"custom","custom":{"name":"sql","input":""}}`,
		`{"index":1,"custom":{"input":"SELECT 1"}}`,
	} {
		if !strings.Contains(string(stream), want) {
			t.Errorf("no %s in\n%s", want, stream)
		}
	}
	events := dialecttest.SplitEverywhere(t, stream, func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
	response.Choices[0].Parts[1].Call.Custom = false // events do not tell: who encodes them knows the tools
	if diff := dialecttest.DiffResponses(response, dialecttest.ResponseOf(events)); diff != nil {
		t.Errorf("%s\n%s", strings.Join(diff, "\n"), stream)
	}
}

// A function that is called without arguments gets an empty object, whole and in a stream, as
// OpenAI has it: clients read them as JSON. Free text may be empty.
func TestAnswersWithoutArguments(t *testing.T) {
	t.Parallel()
	for _, functions := range []bool{false, true} {
		response := &llm.Response{ID: "c", Model: "m", Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "tool_calls", Parts: []llm.Part{
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "now"}},
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_2", Name: "sql", Custom: true}},
		}}}}
		a := newResponseContext(true)
		a.Call.Functions = functions
		a.Call.Tools = []llm.Tool{{Type: llm.Function, Name: "now"}, {Type: llm.Custom, Name: "sql"}}
		enc := chat{}.NewEncoder(a)
		var stream []byte
		dialect.Replay(response, func(ev *llm.Event) { stream = enc.Append(stream, ev) })
		buffered := string(chat{}.EncodeResponse(nil, response, a))
		for _, got := range []string{buffered, string(stream)} {
			if strings.Count(got, `"arguments":"{}"`) != 1 || strings.Contains(got, `"input":"{`) {
				t.Errorf("functions %v: %s", functions, got)
			}
		}
	}
}

// The sources of a text stand behind it in a stream, and belong to it as in a whole answer.
func TestStreamOfAnnotations(t *testing.T) {
	t.Parallel()
	const notes = `[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":2}}]`
	const stream = `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"It is so."}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"annotations":` + notes + `},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	events := dialecttest.SplitEverywhere(t, []byte(stream), func() dialect.EventDecoder { return chat{}.NewDecoder(nil) })
	buffered, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(
		`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is so.","annotations":` + notes + `},"finish_reason":"stop"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := dialecttest.DiffResponses(buffered, dialecttest.ResponseOf(events)); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
}

// A chunk costs the text that it brings and nothing else.
func TestChunksAllocateOnlyText(t *testing.T) {
	d, emit := chat{}.NewDecoder(nil), func(*llm.Event) {}
	chunk := []byte(`data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}` + "\n\n")
	feed := func() {
		if err := d.Feed(chunk, emit); err != nil {
			t.Fatal(err)
		}
	}
	feed()
	if n := testing.AllocsPerRun(100, feed); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzChunks(f *testing.F) {
	enc := chat{}.NewEncoder(newResponseContext(false, wantsUsage))
	var stream []byte
	dialect.Replay(sample(), func(ev *llm.Event) { stream = enc.Append(stream, ev) })
	f.Add(stream, 7)
	f.Add([]byte("data: {\"choices\":[{\"index\":9,\"delta\":{\"tool_calls\":[{},{\"index\":-1}]}}]}\n\ndata: [DONE]\n\n"), 3)
	f.Add([]byte("data: {\"error\":{\"message\":\"no\"}}\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, split int) {
		d := chat{}.NewDecoder(nil)
		ends := 0
		emit := func(ev *llm.Event) {
			if ev.Kind == llm.EventEnd || ev.Kind == llm.EventFault {
				ends++
			}
		}
		split = max(0, min(split, len(stream)))
		for _, p := range [][]byte{stream[:split], stream[split:]} {
			if d.Feed(p, emit) != nil {
				return
			}
		}
		_ = d.Close(emit)
		if ends > 1 {
			t.Errorf("%d ends", ends)
		}
	})
}
