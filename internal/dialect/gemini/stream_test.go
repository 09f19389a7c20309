package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func decoder() dialect.EventDecoder { return upstream().NewDecoder(&dialect.Incoming{}) }

// sse puts fragments on the wire as Gemini does.
func sse(fragments ...string) []byte {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString("data: " + f + "\r\n\r\n")
	}
	return []byte(b.String())
}

// show writes events in short, one for each line.
func show(events []llm.Event) string {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		fmt.Fprintf(&b, "%s %d/%d", kinds[e.Kind], e.Choice, e.Block)
		for _, s := range []string{e.ID, e.Model, e.Name, e.Text, string(e.Raw)} {
			if s != "" {
				b.WriteString(" " + s)
			}
		}
		if e.Media != nil {
			b.WriteString(" " + e.Media.MIME + " " + e.Media.Data)
		}
		if e.Usage != nil {
			fmt.Fprintf(&b, " %d+%d=%d", e.Usage.InputTokens, e.Usage.OutputTokens, e.Usage.TotalTokens)
		}
		if e.Kind == llm.EventFinish {
			b.WriteString(" " + e.Finish.Chat())
		}
		if e.Status != 0 {
			fmt.Fprintf(&b, " %d", e.Status)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var kinds = map[llm.EventKind]string{
	llm.EventStart: "start", llm.EventBlock: "block", llm.EventText: "text", llm.EventArguments: "arguments", llm.EventSignature: "signature",
	llm.EventMedia: "media", llm.EventLogprobs: "logprobs", llm.EventExtra: "extra", llm.EventBlockEnd: "end-block", llm.EventFinish: "finish",
	llm.EventUsage: "usage", llm.EventFault: "fault", llm.EventEnd: "end",
}

// The stream has all that may come: thoughts, text and a call in one fragment, calls
// over fragments, a second candidate, a signature alone, an interim usage.
var full = sse(
	`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4},"modelVersion":"gemini-3-pro","responseId":"r1"}`,
	`{"candidates":[{"content":{"parts":[{"text":" well","thought":true},{"text":"It \"is\" "}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}`,
	`{"candidates":[{"content":{"parts":[{"text":"warm\n"},{"functionCall":{"id":"c1","name":"f","args":{"a":"}"}},"thoughtSignature":"c2ln"}],"role":"model"},"index":0},{"content":{"parts":[{"text":"other"}]},"index":1}]}`,
	`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c2","name":"g"}}],"role":"model"},"index":0}]}`,
	`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"Qg=="}},{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"Qw=="}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}]},"index":0}]}`,
	`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"ZW5k"}],"role":"model"},"finishReason":"STOP","index":0,"safetyRatings":[]},{"finishReason":"MAX_TOKENS","index":1}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6,"thoughtsTokenCount":1,"totalTokenCount":11}}`,
)

const fullEvents = `start 0/0 r1 gemini-3-pro 4+0=4
block 0/0
text 0/0 hm
usage 0/0 4+0=4
text 0/0  well
end-block 0/0
block 0/1
text 0/1 It "is" 
text 0/1 warm

end-block 0/1
block 0/2 c1__thought__c2ln f
arguments 0/2 {"a":"}"}
signature 0/2 c2ln
end-block 0/2
block 1/0
text 1/0 other
block 0/3 c2 g
arguments 0/3 {}
end-block 0/3
block 0/4
media 0/4 image/png QQ==
end-block 0/4
block 0/5
media 0/5 audio/L16;rate=24000 Qg==
media 0/5 audio/L16;rate=24000 Qw==
end-block 0/5
block 0/6 gemini {"codeExecutionResult":{"outcome":"OUTCOME_OK"}}
end-block 0/6
block 0/7
signature 0/7 ZW5k
extra 0/0 safetyRatings []
usage 0/0 4+7=11
end-block 0/7
finish 0/0 STOP tool_calls
end-block 1/0
finish 1/0 MAX_TOKENS length
end 0/0
`

func TestStream(t *testing.T) {
	t.Parallel()
	if got := show(dialecttest.SplitEverywhere(t, full, decoder)); got != fullEvents {
		t.Errorf("got:\n%s", got)
	}
}

// What is streamed amounts to what is answered at once.
func TestStreamIsTheReply(t *testing.T) {
	t.Parallel()
	const complete = `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"},{"text":"b"},{"functionCall":{"id":"c","name":"f","args":{}},"thoughtSignature":"cw=="}]},"finishReason":"STOP","index":0,"groundingMetadata":{}}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6,"totalTokenCount":10},"modelVersion":"m","responseId":"r"}`
	events, err := dialecttest.Read(decoder(), sse(complete))
	if err != nil {
		t.Fatal(err)
	}
	same(t, dialecttest.ResponseOf(events), decode(t, complete))
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	const first = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"responseId":"r"}`
	for _, c := range []struct {
		name   string
		stream []byte
		want   string // the last events
	}{
		{"cut", sse(first), "text 0/0 a\n"},
		{"cut inside of a fragment", sse(first, `{"candidates":[{"finishReason":"STOP"}]}`)[:100], "text 0/0 a\n"},
		{"one of two candidates is cut", sse(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1},{"finishReason":"STOP","index":0}]}`), "text 1/0 a\n"},
		{"each fragment says why it ends", sse(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`, `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}]}`),
			"text 0/0 b\nend-block 0/0\nfinish 0/0 MAX_TOKENS length\nend 0/0\n"},
		{"the last blank line is missing", []byte("data: " + first + "\n\ndata: " + `{"candidates":[{"finishReason":"STOP"}]}`), "finish 0/0 STOP stop\nend 0/0\n"},
		{"the prompt is blocked", sse(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":2,"totalTokenCount":2}}`),
			"usage 0/0 2+0=2\nextra 0/0 promptFeedback {\"blockReason\":\"PROHIBITED_CONTENT\"}\nfinish 0/0 PROHIBITED_CONTENT content_filter\nend 0/0\n"},
		{"an error", sse(first, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, `{"candidates":[{"finishReason":"STOP"}]}`),
			"text 0/0 a\nfault 0/0 503 UNAVAILABLE The model is overloaded. " + `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}` + " 503\n"},
		{"an error first", sse(`{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`), "fault 0/0 400 INVALID_ARGUMENT no " + `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}` + " 400\n"},
	} {
		events, err := dialecttest.Read(decoder(), c.stream)
		if got := show(events); err != nil || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"<html>", "[1]", `{"candidates":[}`, `{"candidates":[{"index":128}]}`, `{"candidates":[{"index":-1}]}`} {
		if _, err := dialecttest.Read(decoder(), sse(data)); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// FuzzStream feeds pieces of any size: no panic, and a stream has one end at most.
func FuzzStream(f *testing.F) {
	f.Add(full, 7)
	f.Add(sse(`{"error":{"code":1}}`, `{"candidates":[{"content":{"parts":[{"functionCall":1},{"inlineData":{}},{"text":3}]}}]}`), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		size = 1 + max(size, -size)&63
		var chunks [][]byte
		for p := stream; len(p) > 0; {
			n := min(size, len(p))
			chunks, p = append(chunks, p[:n]), p[n:]
		}
		events, _ := dialecttest.Read(decoder(), chunks...)
		for i := range events {
			if k := events[i].Kind; (k == llm.EventEnd || k == llm.EventFault) && i < len(events)-1 {
				t.Errorf("event %d of %d is the end", i, len(events))
			}
		}
	})
}

// A fragment of text costs its text, and nothing beside.
func TestStreamAllocations(t *testing.T) {
	d := decoder()
	emit := func(*llm.Event) {}
	p := sse(`{"candidates":[{"content":{"parts":[{"text":"a few words of an answer "}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4},"modelVersion":"gemini-2.5-flash","responseId":"r1"}`)
	feed := func() {
		if err := d.Feed(p, emit); err != nil {
			t.Fatal(err)
		}
	}
	feed()
	if got := testing.AllocsPerRun(100, feed); got > 1 {
		t.Errorf("%g allocations for each fragment", got)
	}
}

func BenchmarkStream(b *testing.B) {
	emit := func(*llm.Event) {}
	b.SetBytes(int64(len(full)))
	for b.Loop() {
		d := decoder()
		if err := d.Feed(full, emit); err != nil {
			b.Fatal(err)
		}
	}
}
