package cohere_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// Streams as Cohere documents them.
const (
	toolStream = `event: message-start
data: {"id":"29f14a5a-11de-4cae-9800-25e4747408ea","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}

event: tool-plan-delta
data: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I will"}}}

event: tool-plan-delta
data: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":" use the \"tool\"."}}}

event: tool-call-start
data: {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"query_daily_sales_report_hgxxmkby3wta","type":"function","function":{"name":"query_daily_sales_report","arguments":""}}}}}

event: tool-call-delta
data: {"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\n  \"day\": \""}}}}}

event: tool-call-delta
data: {"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"2023-09-29\"\n}"}}}}}

event: tool-call-end
data: {"type":"tool-call-end","index":0}

event: tool-call-start
data: {"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":[{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}}}

event: tool-call-end
data: {"type":"tool-call-end","index":1}

event: message-end
data: {"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":64,"output_tokens":39},"tokens":{"input_tokens":965,"output_tokens":83},"cached_tokens":0}}}

`
	textStream = `event: message-start
data: {"type":"message-start","id":"39320989","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}

event: content-start
data: {"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}

event: content-delta
data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hm."}}}}

event: content-end
data: {"type":"content-end","index":0}

event: content-start
data: {"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":""}}}}

event: content-delta
data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"Gr\u00fc\u00dfe,"}}},"logprobs":{"text":"Gr\u00fc\u00dfe,","token_ids":[5],"logprobs":[-0.5]}}

event: content-delta
data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":" penguins."}}}}

event: content-end
data: {"type":"content-end","index":1}

event: citation-start
data: {"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":7,"end":15,"text":"penguins","sources":[{"type":"document","id":"doc:0"}]}}}}

event: citation-end
data: {"type":"citation-end","index":0}

event: debug
data: {"type":"debug","prompt":"x"}

event: message-end
data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":13,"output_tokens":20},"tokens":{"input_tokens":200,"output_tokens":22}}}}

data: [DONE]

`
)

func newDecoder() dialect.EventDecoder { return upstream().NewDecoder(&dialect.Incoming{}) }

func TestStreamsAreReadAlikeHoweverCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stream string
		want   llm.Response
	}{
		{toolStream, llm.Response{
			ID: "29f14a5a-11de-4cae-9800-25e4747408ea",
			Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "TOOL_CALL", Parts: []llm.Part{
				{Text: `I will use the "tool".`},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "query_daily_sales_report_hgxxmkby3wta", Name: "query_daily_sales_report", Arguments: "{\n  \"day\": \"2023-09-29\"\n}"}},
				{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "b", Name: "g", Arguments: "{}"}},
			}}},
			Usage: llm.Usage{InputTokens: 965, OutputTokens: 83, TotalTokens: 1048, FreeInputTokens: 901, FreeOutputTokens: 44, Reported: true},
		}},
		{textStream, llm.Response{
			ID: "39320989",
			Choices: []llm.Choice{{
				Finish: llm.FinishStop, Raw: "COMPLETE",
				Parts: []llm.Part{
					{Kind: llm.ReasoningPart, Text: "Hm."},
					{Text: "Grüße, penguins.", Shape: "cohere", Citations: []byte(`[{"start":7,"end":15,"text":"penguins","sources":[{"type":"document","id":"doc:0"}]}]`)},
				},
				Logprobs: []byte(`[{"token":"Gr\u00fc\u00dfe,","logprob":-0.5,"bytes":null,"top_logprobs":[]}]`), // entries, as streams have them
			}},
			Usage: llm.Usage{InputTokens: 200, OutputTokens: 22, TotalTokens: 222, FreeInputTokens: 187, FreeOutputTokens: 2, Reported: true},
		}},
	} {
		events := dialecttest.SplitEverywhere(t, []byte(c.stream), newDecoder)
		for _, d := range dialecttest.DiffResponses(&c.want, dialecttest.ResponseOf(events)) {
			t.Error(d)
		}
		checkGrammar(t, events, true)
	}
}

// checkGrammar proves that blocks are opened once and closed, and that nothing follows
// the end. Whole streams have an end.
func checkGrammar(t *testing.T, events []llm.Event, complete bool) {
	t.Helper()
	open := map[int]bool{}
	ended := false
	for i, e := range events {
		if ended || (i == 0) != (e.Kind == llm.EventStart) && e.Kind != llm.EventFault {
			t.Fatalf("event %d, of kind %d, is out of place", i, e.Kind)
		}
		switch e.Kind {
		case llm.EventBlock:
			if _, again := open[e.Block]; again {
				t.Fatalf("block %d begins twice", e.Block)
			}
			open[e.Block] = true
		case llm.EventBlockEnd, llm.EventText, llm.EventArguments, llm.EventCitation:
			if !open[e.Block] {
				t.Fatalf("event %d speaks of block %d, which is not open", i, e.Block)
			}
			open[e.Block] = e.Kind != llm.EventBlockEnd
		case llm.EventEnd, llm.EventFault:
			ended = true
		}
	}
	for block, left := range open {
		if left && complete {
			t.Errorf("block %d stays open", block)
		}
	}
	if ended != complete {
		t.Errorf("ended %v", ended)
	}
}

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream, text string
		status       int
	}{
		"in the end":   {textStream[:strings.Index(textStream, "event: message-end")] + `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"generation failed"}}` + "\n\n", "generation failed", 500},
		"as an event":  {`data: {"error":{"message":"slow down","type":"rate_limit_error"}}` + "\n\n" + textStream, "slow down", 429},
		"as an object": {`data: {"type":"error","message":"no"}` + "\n\n", "no", 500},
	} {
		events, err := dialecttest.Read(newDecoder(), []byte(c.stream))
		last := events[len(events)-1]
		if err != nil || last.Kind != llm.EventFault || last.Text != c.text || last.Status != c.status {
			t.Errorf("%s: %+v, %v", name, last, err)
		}
	}
	if _, err := dialecttest.Read(newDecoder(), []byte("data: <html>\n\n")); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("garbage: %v", err)
	}
}

func TestCutStreamHasNoEnd(t *testing.T) {
	t.Parallel()
	for _, split := range []string{"event: message-end", "event: content-end", "event: tool-call-end"} {
		for _, s := range []string{textStream, toolStream} {
			i := strings.Index(s, split)
			if i < 0 {
				continue
			}
			events, err := dialecttest.Read(newDecoder(), []byte(s[:i]))
			if err != nil {
				t.Fatal(err)
			}
			checkGrammar(t, events, false)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(textStream), uint16(7))
	f.Add([]byte(toolStream), uint16(400))
	f.Add([]byte("data: {\"type\":\"tool-call-start\",\"index\":-1}\n\n"), uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, split uint16) {
		i := min(int(split), len(stream))
		complete, fullErr := dialecttest.Read(newDecoder(), stream)
		parts, partsErr := dialecttest.Read(newDecoder(), stream[:i], stream[i:])
		if (fullErr == nil) != (partsErr == nil) || len(dialecttest.Merge(complete)) != len(dialecttest.Merge(parts)) {
			t.Fatalf("%d events and %v, in two pieces %d and %v", len(complete), fullErr, len(parts), partsErr)
		}
	})
}

func TestTextAllocatesLittle(t *testing.T) {
	const delta = `data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hello"}}}}` + "\n\n"
	d := newDecoder()
	nothing := func(*llm.Event) {}
	if err := d.Feed([]byte(textStream[:strings.Index(textStream, "event: content-end")]), nothing); err != nil {
		t.Fatal(err)
	}
	p := []byte(delta)
	if n := testing.AllocsPerRun(100, func() { _ = d.Feed(p, nothing) }); n > 2 {
		t.Errorf("%v allocations for a piece of text, want at most 2", n)
	}
}

func BenchmarkEvents(b *testing.B) {
	p := []byte(toolStream)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder()
		_ = d.Feed(p, func(*llm.Event) {})
	}
}
