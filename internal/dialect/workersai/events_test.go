package workersai_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/dialect/workersai"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

const (
	textStream = `data: {"response":"Gr\u00fc","p":"abdefg"}` + "\n\n" + `data: {"response":"\u00dfe","p":"ab"}` + "\n\n" + `data: {"response":7,"p":""}` + "\n\n" +
		`data: {"response":"","usage":{"prompt_tokens":26,"completion_tokens":3,"total_tokens":29}}` + "\n\n" + "data: [DONE]\n\n"

	toolStream = `data: {"response":"I look.","p":"a"}` + "\n\n" +
		`data: {"response":null,"tool_calls":[{"name":"f","arguments":{"city":"Rome"}},{"name":"g","arguments":{}}]}` + "\n\n" +
		`data: {"response":"","usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\n" + "data: [DONE]\n\n"

	chatStream = `data: {"id":"chatcmpl-7","model":"@cf/openai/gpt-oss-120b","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Hm."},"finish_reason":null}]}` + "\n\n" +
		`data: {"id":"chatcmpl-7","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n" +
		`data: {"id":"chatcmpl-7","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}}]}` + "\n\n" +
		`data: {"id":"chatcmpl-7","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}` + "\n\n" +
		`data: {"id":"chatcmpl-7","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}` + "\n\n" +
		`data: {"id":"chatcmpl-7","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}` + "\n\n" + "data: [DONE]\n\n"
)

func newDecoder() dialect.EventDecoder { return upstream().NewDecoder(&dialect.Incoming{}) }

func TestStreamsAreReadAlikeHoweverCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stream string
		want   llm.Response
	}{
		{textStream, llm.Response{
			Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: "Grüße7"}}}},
			Usage:   llm.Usage{InputTokens: 26, OutputTokens: 3, TotalTokens: 29, Reported: true},
		}},
		{toolStream, llm.Response{
			Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Parts: []llm.Part{
				{Text: "I look."},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "f", Arguments: `{"city":"Rome"}`}},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_2", Name: "g", Arguments: `{}`}},
			}}},
			Usage: llm.Usage{InputTokens: 5, OutputTokens: 2, TotalTokens: 7, Reported: true},
		}},
		{chatStream, llm.Response{
			ID: "chatcmpl-7", Model: "@cf/openai/gpt-oss-120b",
			Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "tool_calls", Parts: []llm.Part{
				{Kind: llm.ReasoningPart, Text: "Hm."}, {Text: "Hi"},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "f", Arguments: `{"a":1}`}},
			}}},
			Usage: llm.Usage{InputTokens: 9, OutputTokens: 4, TotalTokens: 13, Reported: true},
		}},
	} {
		events := dialecttest.SplitEverywhere(t, []byte(c.stream), newDecoder)
		for _, d := range dialecttest.DiffResponses(&c.want, dialecttest.ResponseOf(dialecttest.Merge(events))) {
			t.Error(d)
		}
		if last := events[len(events)-1]; last.Kind != llm.EventEnd {
			t.Errorf("the last event is %+v", last)
		}
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		kind   llm.EventKind
		text   string
	}{
		"cut":             {textStream[:strings.Index(textStream, `data: {"response":"",`)], llm.EventText, "7"},
		"no mark":         {strings.TrimSuffix(chatStream, "data: [DONE]\n\n"), llm.EventEnd, ""},
		"an error":        {`data: {"response":"a"}` + "\n\n" + `data: {"errors":[{"code":3040,"message":"Capacity exceeded"}],"success":false}` + "\n\n", llm.EventFault, "Error 3040:Capacity exceeded"},
		"another's error": {`data: {"error":"out"}` + "\n\n" + textStream, llm.EventFault, "out"},
	} {
		events, err := dialecttest.Read(newDecoder(), []byte(c.stream))
		if last := events[len(events)-1]; err != nil || last.Kind != c.kind || last.Text != c.text {
			t.Errorf("%s: %+v, %v", name, last, err)
		}
	}
	if _, err := dialecttest.Read(newDecoder(), []byte("data: 5\n\n")); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("garbage: %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{textStream, toolStream, chatStream} {
		f.Add([]byte(s), uint16(60))
	}
	f.Fuzz(func(t *testing.T, stream []byte, split uint16) {
		i := min(int(split), len(stream))
		full, fullErr := dialecttest.Read(newDecoder(), stream)
		parts, partsErr := dialecttest.Read(newDecoder(), stream[:i], stream[i:])
		if (fullErr == nil) != (partsErr == nil) || len(dialecttest.Merge(full)) != len(dialecttest.Merge(parts)) {
			t.Fatalf("%d events and %v, in two pieces %d and %v", len(full), fullErr, len(parts), partsErr)
		}
	})
}

func TestTextAllocatesLittle(t *testing.T) {
	p := []byte(`data: {"response":"Hello","p":"abcdef"}` + "\n\n")
	d := newDecoder()
	nothing := func(*llm.Event) {}
	if err := d.Feed(p, nothing); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = d.Feed(p, nothing) }); n > 2 {
		t.Errorf("%v allocations for a piece of text, want at most 2", n)
	}
}

func BenchmarkEvents(b *testing.B) {
	p := []byte(textStream)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder()
		_ = d.Feed(p, func(*llm.Event) {})
	}
}

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       llm.Response
	}{
		{
			"a text", `{"result":{"response":"Hello","usage":{"prompt_tokens":26,"completion_tokens":3,"total_tokens":29}},"success":true,"errors":[],"messages":[]}`,
			llm.Response{
				Choices: []llm.Choice{{Finish: llm.FinishStop, Parts: []llm.Part{{Text: "Hello"}}}},
				Usage:   llm.Usage{InputTokens: 26, OutputTokens: 3, TotalTokens: 29, Reported: true},
			},
		},
		{
			"JSON and a call", `{"result":{"response":{"a":1},"tool_calls":[{"id":"1","name":"f","arguments":{"c": 1}}]},"success":true}`,
			llm.Response{Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Parts: []llm.Part{
				{Text: `{"a":1}`}, {Kind: llm.CallPart, Call: &llm.ToolCall{ID: "1", Name: "f", Arguments: `{"c": 1}`}},
			}}}},
		},
		{
			"OpenAI's words", `{"result":{"id":"c","model":"@cf/x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm.","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}},"success":true}`,
			llm.Response{
				ID: "c", Model: "@cf/x",
				Choices: []llm.Choice{{Finish: llm.FinishLength, Raw: "length", Parts: []llm.Part{
					{Kind: llm.ReasoningPart, Text: "Hm."}, {Text: "Hi"}, {Kind: llm.CallPart, Call: &llm.ToolCall{ID: "1", Name: "f", Arguments: `{}`}},
				}}},
				Usage: llm.Usage{InputTokens: 1, OutputTokens: 2, TotalTokens: 3, Reported: true},
			},
		},
	} {
		r, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(c.body), To: target})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, d := range dialecttest.DiffResponses(&c.want, r) {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for _, body := range []string{``, `{"success":false}`, `{"result":"x"}`, `{"result":{"choices":[]}}`} {
		if _, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(body), To: target}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestCompletionStream(t *testing.T) {
	t.Parallel()
	s := workersai.Dialect().Unified[llm.Complete].(dialect.Streamer).NewStream(&dialect.Incoming{Created: 9, To: target})
	var out []byte
	for _, p := range []string{textStream[:30], textStream[30:]} {
		var err error
		if out, err = s.Append(out, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Close(out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n\n")
	if err != nil || len(lines) != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
	const model = `"object":"text_completion","created":9,"model":"@cf/meta/llama-3.3-70b-instruct-fp8-fast",`
	for i, want := range []string{
		model + `"choices":[{"index":0,"text":"Grü","logprobs":null,"finish_reason":null}]}`,
		model + `"choices":[{"index":0,"text":"ße","logprobs":null,"finish_reason":null}]}`,
		model + `"choices":[{"index":0,"text":"7","logprobs":null,"finish_reason":null}]}`,
		model + `"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":26,"completion_tokens":3,"total_tokens":29}}`,
		"data: [DONE]",
	} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("event %d\n%s\nwant\n%s", i, lines[i], want)
		}
	}
	s = workersai.Dialect().Unified[llm.Complete].(dialect.Streamer).NewStream(&dialect.Incoming{To: target})
	if out, _ = s.Append(nil, []byte(`data: {"error":"out"}`+"\n\n")); !strings.Contains(string(out), `"message":"out"`) {
		t.Errorf("an error: %s", out)
	}
}

// A call begins when its name is known, and one whose name never comes is none.
func TestCallsBeginWithTheirNames(t *testing.T) {
	t.Parallel()
	call := func(members string) string { return `{"choices":[{"delta":{"tool_calls":[{` + members + `}]}}]}` }
	end := func(reason string) string { return `{"choices":[{"delta":{},"finish_reason":"` + reason + `"}]}` }
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"a name behind the id":     {[]string{call(`"index":0,"id":"a"`), call(`"index":0,"function":{"name":"f","arguments":"{\"x\""}`), call(`"index":0,"function":{"arguments":":1}"}`), end("tool_calls")}, `f#a{"x":1} tool_calls`},
		"a name behind arguments":  {[]string{call(`"index":0,"id":"a","function":{"arguments":"{\"x\":\"\ud83d"}`), call(`"index":0,"function":{"arguments":"\ude00"}`), call(`"index":0,"function":{"name":"f","arguments":"\"}"}`), end("")}, `f#a{"x":"😀"} tool_calls`},
		"names that come in turn":  {[]string{call(`"index":0,"id":"a"`), call(`"index":1,"id":"b","function":{"arguments":"{}"}`), call(`"index":1,"function":{"name":"g"}`), call(`"index":0,"function":{"name":"f","arguments":"{}"}`), end("tool_calls")}, `g#b{} f#a{} tool_calls`},
		"a name and no place":      {[]string{call(`"id":"a"`), call(`"function":{"name":"f","arguments":"{}"}`), call(`"id":"b","function":{"name":"g","arguments":"{"}`), call(`"function":{"arguments":"}"}`), end("stop")}, `f#a{} g#b{} tool_calls`},
		"places that begin with 1": {[]string{call(`"index":1,"id":"a","function":{"name":"f","arguments":"{"}`), call(`"index":1,"function":{"arguments":"}"}`), end("tool_calls")}, `f#a{} tool_calls`},
		"no name at all":           {[]string{call(`"index":0,"id":"a","function":{"arguments":"{}"}`), end("tool_calls")}, `stop`},
	} {
		events := dialecttest.SplitEverywhere(t, []byte("data: "+strings.Join(append(c.events, "[DONE]"), "\n\ndata: ")+"\n\n"), newDecoder)
		choice := dialecttest.ResponseOf(events).Choices[0]
		var got []string
		for _, p := range choice.Parts {
			got = append(got, p.Call.Name+"#"+p.Call.ID+p.Call.Arguments)
		}
		if text := strings.Join(append(got, choice.Finish.Chat()), " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	r, err := upstream().DecodeResponse(&dialect.Incoming{Body: []byte(`{"result":{"tool_calls":[{"arguments":{}}],"finish_reason":"tool_calls"}}`)})
	if err != nil || len(r.Choices[0].Parts) > 0 || r.Choices[0].Finish != llm.FinishStop {
		t.Errorf("%v: %+v", err, r)
	}
}
