package oracle

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

var head = wire.Header{{Name: "opc-request-id", Value: "REQ/1"}}

func decoderOf() dialect.EventDecoder { return chat{}.NewDecoder(&dialect.Incoming{Header: head}) }

// A stream as Llama models give it, and the same answer whole.
// Source: https://docs.oracle.com/iaas/api/#/en/generative-ai-inference/20231130/ChatResult/Chat, read 2026-11.
const (
	textStream = `data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":"Ro"}]},"pad":"aaaaaaaaa"}

data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":"m\u00e9"}]},"pad":"aa"}

data: {"message":{"role":"ASSISTANT"},"finishReason":"stop","usage":{"completionTokens":3,"promptTokens":41,"totalTokens":44,"promptTokensDetails":{"cachedTokens":32},"completionTokensDetails":{"reasoningTokens":1}},"pad":"aaaaaaa"}

`
	textResponse = `{"modelId":"meta.llama-3.3-70b-instruct","modelVersion":"1.0.0","chatResponse":{"apiFormat":"GENERIC","timeCreated":"2026-11-20T12:00:00.529Z","choices":[{"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":"Romé"}],"toolCalls":null},"finishReason":"stop","logprobs":null}],` +
		`"usage":{"completionTokens":3,"promptTokens":41,"totalTokens":44,"promptTokensDetails":{"cachedTokens":32},"completionTokensDetails":{"reasoningTokens":1}}}}`

	toolStream = `data: {"index":0,"message":{"role":"ASSISTANT","reasoningContent":"Weather"}}

data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":"Let me see."}]}}

data: {"index":0,"message":{"role":"ASSISTANT","toolCalls":[{"type":"FUNCTION","id":"c1","name":"get_weather","arguments":""}]}}

data: {"index":0,"message":{"role":"ASSISTANT","toolCalls":[{"type":"FUNCTION","arguments":"{\"city\":"}]}}

data: {"index":0,"message":{"role":"ASSISTANT","toolCalls":[{"type":"FUNCTION","arguments":"\"Rome\"}"}]}}

data: {"index":0,"message":{"role":"ASSISTANT","toolCalls":[{"type":"FUNCTION","id":"c2","name":"get_time","arguments":"{}"}]}}

data: {"index":0,"finishReason":"tool_calls"}

data: {"usage":{"completionTokens":20,"promptTokens":50,"totalTokens":70}}

`
	toolResponse = `{"modelId":"","chatResponse":{"choices":[{"message":{"role":"ASSISTANT","reasoningContent":"Weather","content":[{"type":"TEXT","text":"Let me see."}],"toolCalls":[{"type":"FUNCTION","id":"c1","name":"get_weather","arguments":"{\"city\":\"Rome\"}"},` +
		`{"type":"FUNCTION","id":"c2","name":"get_time","arguments":"{}"}]},"finishReason":"tool_calls"}],"usage":{"completionTokens":20,"promptTokens":50,"totalTokens":70}}}`
)

// A stream, cut anywhere, amounts to the answer that is not streamed.
func TestStreamsAmountToReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stream, response string }{"text": {textStream, textResponse}, "tools": {toolStream, toolResponse}} {
		want, err := chat{}.DecodeResponse(&dialect.Incoming{Header: head, Body: []byte(c.response)})
		if err != nil {
			t.Fatal(err)
		}
		want.Model, want.Created, want.Extra = "", 0, nil // no event tells of them
		got := dialecttest.ResponseOf(dialecttest.SplitEverywhere(t, []byte(c.stream), decoderOf))
		if diff := dialecttest.DiffResponses(got, want); len(diff) > 0 {
			t.Errorf("%s: %s", name, strings.Join(diff, "\n"))
		}
	}
}

func TestDecodeReply(t *testing.T) {
	t.Parallel()
	r, err := chat{}.DecodeResponse(&dialect.Incoming{Header: head, Body: []byte(textResponse)})
	if err != nil {
		t.Fatal(err)
	}
	usage := llm.Usage{InputTokens: 41, OutputTokens: 3, TotalTokens: 44, CachedTokens: 32, ReasoningTokens: 1, Reported: true}
	if r.ID != "REQ/1" || r.Model != "meta.llama-3.3-70b-instruct" || r.Created != 1795176000 || r.Usage != usage {
		t.Errorf("%+v", r)
	}
	if c := r.Choices[0]; c.Raw != "stop" || c.Finish != llm.FinishStop || len(c.Parts) != 1 || c.Parts[0].Text != "Romé" {
		t.Errorf("%+v", c)
	}
}

func TestDecodeLogprobsAndExtras(t *testing.T) {
	t.Parallel()
	body := `{"chatResponse":{"choices":[{"index":1,"message":{"content":[],"refusal":"No.","annotations":[{"x":1}]},"finishReason":"MAX_TOKENS","groundingMetadata":{"q":1},` +
		`"logprobs":{"tokens":["a","b"],"tokenLogprobs":[-0.1,-2],"topLogprobs":[{"a":-0.1,"c":-3}]}}]}}`
	r, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Choices[0]
	const want = `{"content":[{"token":"a","logprob":-0.1,"bytes":null,"top_logprobs":[{"token":"a","logprob":-0.1,"bytes":null},{"token":"c","logprob":-3,"bytes":null}]},{"token":"b","logprob":-2,"bytes":null,"top_logprobs":[]}]}`
	if string(c.Logprobs) != want || c.Index != 1 || c.Finish != llm.FinishLength || c.Parts[0].Kind != llm.RefusalPart || len(c.Extra) != 2 || r.Usage.Reported {
		t.Errorf("%+v\n%s", c, c.Logprobs)
	}
}

func TestNoReply(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "null", `{"chatResponse":{"choices":[]}}`, `{"code":"x"}`, `<html>`} {
		if _, err := (chat{}).DecodeResponse(&dialect.Incoming{Body: []byte(body)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	const begun = `data: {"index":0,"message":{"content":[{"type":"TEXT","text":"a"}]}}` + "\n\n"
	cases := []struct {
		name, stream string
		last         llm.Event
		code         fault.Code
	}{
		{name: "cut", stream: begun, last: llm.Event{Kind: llm.EventText, Text: "a"}},
		{name: "finished", stream: begun + `data: {"finishReason":"stop"}` + "\n\n", last: llm.Event{Kind: llm.EventEnd}},
		{name: "last line without its end", stream: begun + `data: {"finishReason":"stop"}`, last: llm.Event{Kind: llm.EventEnd}},
		{name: "marked", stream: begun + `data: {"finishReason":"stop"}` + "\n\ndata: [DONE]\n\n", last: llm.Event{Kind: llm.EventEnd}},
		{name: "error", stream: begun + `data: {"code":"TooManyRequests","message":"slow down"}` + "\n\n" + begun, last: llm.Event{Kind: llm.EventFault, Text: "slow down", Name: "TooManyRequests", Status: 429}},
		{name: "error with a number", stream: `data: {"code":404,"message":"no such model"}` + "\n\n", last: llm.Event{Kind: llm.EventFault, Text: "no such model", Status: 404}},
		{name: "error of a proxy", stream: `data: {"error":{"message":"bad","type":"x","code":"500"}}` + "\n\n", last: llm.Event{Kind: llm.EventFault, Text: "bad", Name: "x", Status: 500}},
		{name: "garbage", stream: "data: nothing\n\n", code: fault.UpstreamInvalid},
		{name: "many answers", stream: `data: {"index":4096}` + "\n\n", code: fault.UpstreamInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			events, err := dialecttest.Read(decoderOf(), []byte(c.stream))
			if c.code != "" {
				if !fault.Has(err, c.code) {
					t.Errorf("%v", err)
				}
				return
			}
			last := events[len(events)-1]
			if err != nil || last.Kind != c.last.Kind || last.Text != c.last.Text || last.Name != c.last.Name || last.Status != c.last.Status {
				t.Errorf("%v, the last event is %+v", err, last)
			}
		})
	}
}

// FuzzStream: a decoder survives anything, keeps the grammar of events, and reads alike
// however the stream is cut.
func FuzzStream(f *testing.F) {
	f.Add([]byte(textStream), 7)
	f.Add([]byte(toolStream), 300)
	f.Add([]byte(`data: {"index":1,"message":{"toolCalls":[{"arguments":"{"},{"id":"","name":"x"}]},"finishReason":"","logprobs":{"tokens":[1]}}`+"\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, stream []byte, split int) {
		full, err := dialecttest.Read(decoderOf(), stream)
		open := map[[2]int]bool{}
		for i, e := range full {
			switch block := [2]int{e.Choice, e.Block}; e.Kind {
			case llm.EventBlock:
				if open[block] {
					t.Errorf("event %d: block %v begins twice", i, block)
				}
				open[block] = true
			case llm.EventText, llm.EventArguments, llm.EventBlockEnd:
				if !open[block] {
					t.Errorf("event %d: block %v is not open", i, block)
				}
				open[block] = e.Kind != llm.EventBlockEnd
			case llm.EventEnd, llm.EventFault:
				if i != len(full)-1 {
					t.Errorf("event %d is not the last", i)
				}
			}
		}
		if split < 0 || split > len(stream) {
			return
		}
		cut, cutErr := dialecttest.Read(decoderOf(), stream[:split], stream[split:])
		if (err == nil) != (cutErr == nil) || !slices.Equal(kinds(full), kinds(cut)) {
			t.Errorf("%v and %v: %v and %v", err, cutErr, kinds(full), kinds(cut))
		}
	})
}

func kinds(events []llm.Event) []llm.EventKind {
	var out []llm.EventKind
	for _, e := range dialecttest.Merge(events) {
		out = append(out, e.Kind)
	}
	return out
}

// A piece of text costs its text, and no more.
func TestAllocationsOfAnEvent(t *testing.T) {
	d := decoderOf()
	emit := func(*llm.Event) {}
	event := []byte(`data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":" discover"}]},"pad":"aaaaaaaaaaa"}` + "\n\n")
	if err := d.Feed(event, emit); err != nil {
		t.Fatal(err)
	}
	const maxAllocs = 2 // the text, and what tells its event on
	if n := testing.AllocsPerRun(100, func() {
		if err := d.Feed(event, emit); err != nil {
			t.Fatal(err)
		}
	}); n > maxAllocs {
		t.Errorf("%v allocations, at most %d", n, maxAllocs)
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	d := decoderOf()
	emit := func(*llm.Event) {}
	event := []byte(`data: {"index":0,"message":{"role":"ASSISTANT","content":[{"type":"TEXT","text":" discover"}]},"pad":"aaaaaaaaaaa"}` + "\n\n")
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Feed(event, emit); err != nil {
			b.Fatal(err)
		}
	}
}

// A call begins when its name is known, and one whose name never comes is none.
func TestCallsBeginWithTheirNames(t *testing.T) {
	t.Parallel()
	call := func(members string) string {
		return `{"index":0,"message":{"toolCalls":[{"type":"FUNCTION",` + members + `}]}}`
	}
	end := func(reason string) string { return `{"index":0,"finishReason":"` + reason + `"}` }
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"a name behind the id":     {[]string{call(`"id":"a"`), call(`"name":"f","arguments":"{\"x\""`), call(`"arguments":":1}"`), end("tool_calls")}, `f#a{"x":1} tool_calls`},
		"a name behind arguments":  {[]string{call(`"id":"a","arguments":"{\"x\":\"\ud83d"`), call(`"arguments":"\ude00"`), call(`"id":"a","name":"f","arguments":"\"}"`), end("stop")}, `f#a{"x":"😀"} tool_calls`},
		"names that come in turn":  {[]string{call(`"id":"a"`), call(`"id":"b","arguments":"{}"`), call(`"id":"b","name":"g"`), call(`"id":"a","name":"f","arguments":"{}"`), end("tool_calls")}, `g#b{} f#a{} tool_calls`},
		"no name at all":           {[]string{call(`"id":"a","arguments":"{}"`), end("tool_calls")}, `stop`},
		"no name in Cohere's form": {[]string{`{"apiFormat":"COHERE","toolCalls":[{"parameters":{}}]}`, `{"apiFormat":"COHERE","finishReason":"COMPLETE","text":""}`}, `stop`},
	} {
		events := dialecttest.SplitEverywhere(t, []byte("data: "+strings.Join(c.events, "\n\ndata: ")+"\n\n"), decoderOf)
		choice := dialecttest.ResponseOf(events).Choices[0]
		var got []string
		for _, p := range choice.Parts {
			got = append(got, p.Call.Name+"#"+p.Call.ID+p.Call.Arguments)
		}
		if text := strings.Join(append(got, choice.Finish.Chat()), " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	for _, response := range []string{
		`{"choices":[{"message":{"toolCalls":[{"id":"a","arguments":"{}"}]},"finishReason":"tool_calls"}]}`,
		`{"apiFormat":"COHERE","toolCalls":[{"parameters":{}}],"finishReason":"COMPLETE"}`,
	} {
		r, err := chat{}.DecodeResponse(&dialect.Incoming{Body: []byte(`{"chatResponse":` + response + `}`)})
		if err != nil || len(r.Choices[0].Parts) > 0 || r.Choices[0].Finish != llm.FinishStop {
			t.Errorf("%v: %+v of %s", err, r, response)
		}
	}
}

// A finishReason in every piece loses nothing of what follows, and ends the choice once.
func TestFinishReasonInEveryPiece(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stream, response string }{"text": {textStream, textResponse}, "tools": {toolStream, toolResponse}} {
		want, err := chat{}.DecodeResponse(&dialect.Incoming{Header: head, Body: []byte(c.response)})
		if err != nil {
			t.Fatal(err)
		}
		reason := want.Choices[0].Raw
		stream := strings.ReplaceAll(c.stream, `{"index":0,"message"`, `{"index":0,"finishReason":"`+reason+`","message"`)
		events, err := dialecttest.Read(decoderOf(), []byte(stream))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want.Model, want.Created = "", 0
		if diff := dialecttest.DiffResponses(want, dialecttest.ResponseOf(events)); diff != nil {
			t.Errorf("%s: %s", name, strings.Join(diff, "\n"))
		}
		ends := 0
		for _, ev := range events {
			if ev.Kind == llm.EventFinish {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%s: %d ends of the choice", name, ends)
		}
	}
}
