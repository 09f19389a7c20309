package bedrock_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/bedrock"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// The stream in testdata was written by the encoder of the official client:
// github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.25. Its events are such as
// Claude sends, the padding in p included.
func recorded(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/converse.bin")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// framed is one message of an event stream.
func framed(typ, name, payload string) []byte {
	var headers []byte
	for _, h := range [][2]string{{":" + typ + "-type", name}, {":message-type", typ}} {
		headers = append(append(append(headers, byte(len(h[0]))), h[0]...), 7)
		headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// events joins messages: "contentBlockStop", `{"contentBlockIndex":0}`, …
func events(pairs ...string) (stream []byte) {
	for i := 0; i < len(pairs); i += 2 {
		stream = append(stream, framed("event", pairs[i], pairs[i+1])...)
	}
	return stream
}

// chunks wraps events of a natively invoked model.
func chunks(inner ...string) (stream []byte) {
	for _, e := range inner {
		stream = append(stream, framed("event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(e))+`","p":"abcd"}`)...)
	}
	return stream
}

func decoder(model string) func() dialect.EventDecoder {
	return func() dialect.EventDecoder {
		return bedrock.Dialect().Upstreams[llm.ChatComplete].NewDecoder(&dialect.Incoming{Status: 200, To: &dialect.Target{Model: model}})
	}
}

func TestStreamIsTheAnswer(t *testing.T) {
	t.Parallel()
	got := dialecttest.ResponseOf(dialecttest.SplitEverywhere(t, recorded(t), decoder(sonnet)))
	want, err := decode(sonnet, `{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"The user wants the weather.","signature":"EqoBCkgIARABGAIiQL8="}}},
		{"text":"I will look – now."},{"toolUse":{"toolUseId":"tooluse_sQbZ1T2hRKmNkD0V3V8zHg","name":"get_weather","input":{"city": "Rome"}}},{"toolUse":{"toolUseId":"tooluse_kT7nq0aRQy6Gx1pW2o9uVw","name":"now","input":{}}}]}},
		"stopReason":"tool_use","usage":{"inputTokens":415,"outputTokens":89,"totalTokens":554,"cacheReadInputTokens":40,"cacheWriteInputTokens":10}}`)
	if err != nil {
		t.Fatal(err)
	}
	want.Choices[0].Parts[3].Call.Arguments = "" // of a call without arguments nothing is streamed
	if diff := dialecttest.DiffResponses(want, got); len(diff) > 0 {
		t.Error(strings.Join(diff, "\n"))
	}
}

// kinds are those of the events that a stream amounts to.
func kinds(t *testing.T, stream []byte) ([]llm.Event, []llm.EventKind, error) {
	t.Helper()
	all, err := dialecttest.Read(decoder(sonnet)(), stream)
	list := make([]llm.EventKind, len(all))
	for i := range all {
		list[i] = all[i].Kind
	}
	return all, list, err
}

func TestStreamEvents(t *testing.T) {
	t.Parallel()
	const start, text, stop = `{"role":"assistant"}`, `{"contentBlockIndex":0,"delta":{"text":"a"}}`, `{"stopReason":"end_turn"}`
	begun := []llm.EventKind{llm.EventStart, llm.EventBlock, llm.EventText}
	finished := append(slices.Clone(begun), llm.EventBlockEnd, llm.EventFinish)
	for _, c := range []struct {
		name   string
		stream []byte
		want   []llm.EventKind
	}{
		{"cut before it told why", events("messageStart", start, "contentBlockDelta", text), begun},
		{"without usage", events("messageStart", start, "contentBlockDelta", text, "messageStop", stop), append(slices.Clone(finished), llm.EventEnd)},
		{
			"a block that nobody ended", events("messageStart", start, "contentBlockDelta", text, "messageStop", stop, "metadata", `{"usage":{"inputTokens":1}}`),
			append(slices.Clone(finished), llm.EventUsage, llm.EventEnd),
		},
		{
			"nothing behind the end", events("contentBlockDelta", text, "messageStop", stop, "metadata", `{}`, "contentBlockDelta", text),
			append(slices.Clone(finished), llm.EventEnd),
		},
		{
			"thoughts that only Amazon reads", events("messageStart", start, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"AAEC"}}}`,
				"contentBlockStop", `{"contentBlockIndex":0}`),
			[]llm.EventKind{llm.EventStart, llm.EventBlock, llm.EventBlockEnd},
		},
		{
			"citations", events("messageStart", start, "contentBlockDelta", text, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"citation":{"title":"t"}}}`),
			append(slices.Clone(begun), llm.EventCitation),
		},
		{
			"images", events("messageStart", start, "contentBlockStart", `{"contentBlockIndex":0,"start":{"image":{"format":"png"}}}`,
				"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"image":{"source":{"bytes":"QQ=="}}}}`),
			[]llm.EventKind{llm.EventStart, llm.EventBlock, llm.EventMedia},
		},
		{
			"a tool that Amazon runs", events("messageStart", start, "contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"type":"server_tool_use","toolUseId":"s","name":"n"}}}`,
				"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}`, "contentBlockStop", `{"contentBlockIndex":0}`),
			[]llm.EventKind{llm.EventStart},
		},
		{
			"what else it says", events("messageStop", `{"stopReason":"stop_sequence","additionalModelResponseFields":{"stop_sequence":"x"}}`, "metadata", `{"serviceTier":{"type":"flex"}}`),
			[]llm.EventKind{llm.EventStart, llm.EventExtra, llm.EventFinish, llm.EventExtra, llm.EventEnd},
		},
		{"an event that nobody knows", events("somethingNew", `{}`), []llm.EventKind{llm.EventStart}},
	} {
		if _, got, err := kinds(t, c.stream); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v, %v", c.name, got, c.want, err)
		}
	}
}

// An exception is an error of the stream, never the end of the answer.
func TestStreamException(t *testing.T) {
	t.Parallel()
	stream := append(events("messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`),
		framed("exception", "modelStreamErrorException", `{"message":"The model failed.","originalStatusCode":500}`)...)
	all, _, err := kinds(t, stream)
	last := all[len(all)-1]
	if err != nil || last.Kind != llm.EventFault || last.Text != "The model failed." || last.Name != "modelStreamErrorException" || last.Status != 424 {
		t.Errorf("%+v, %v", last, err)
	}
}

func TestStreamRefuses(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 300 {
		many = append(many, "contentBlockDelta", `{"contentBlockIndex":`+strings.Repeat("1", i%3+1)+`0`+string(rune('0'+i%10))+string(rune('0'+i/10%10))+string(rune('0'+i/100))+`,"delta":{"text":"a"}}`)
	}
	for name, stream := range map[string][]byte{
		"text":                 []byte("data: {}\n\ndata: [DONE]\n\n"),
		"no JSON":              events("contentBlockDelta", `{"contentBlockIndex":0`),
		"a message that ended": recorded(t)[:100],
		"blocks without end":   events(many...),
	} {
		if _, err := dialecttest.Read(decoder(sonnet)(), stream); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFlatStream(t *testing.T) {
	t.Parallel()
	stream := chunks(`{"index":0,"is_finished":false,"text":" one"}`, `{"index":1,"is_finished":false,"text":"two"}`, `{"index":1,"is_finished":true,"finish_reason":"MAX_TOKENS"}`,
		`{"index":0,"is_finished":true,"finish_reason":"COMPLETE","amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"outputTokenCount":7,"invocationLatency":1,"firstByteLatency":1}}`)
	got := dialecttest.ResponseOf(dialecttest.SplitEverywhere(t, stream, decoder("cohere.command-text-v14")))
	want := &llm.Response{Usage: llm.Usage{InputTokens: 5, OutputTokens: 7, TotalTokens: 12, Reported: true}, Choices: []llm.Choice{
		{Parts: []llm.Part{{Text: " one"}}, Finish: llm.FinishStop, Raw: "COMPLETE"},
		{Index: 1, Parts: []llm.Part{{Text: "two"}}, Finish: llm.FinishLength, Raw: "MAX_TOKENS"},
	}}
	if diff := dialecttest.DiffResponses(want, got); len(diff) > 0 {
		t.Error(strings.Join(diff, "\n"))
	}
	failed, err := dialecttest.Read(decoder("cohere.command-text-v14")(), append(chunks(`{"text":"a"}`), framed("exception", "throttlingException", `{"message":"slow"}`)...))
	if last := failed[len(failed)-1]; err != nil || last.Kind != llm.EventFault || last.Status != 429 {
		t.Errorf("%+v, %v", last, err)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(recorded(f), uint16(900), false)
	f.Add(chunks(`{"text":"a","finish_reason":"COMPLETE"}`), uint16(3), true)
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16, flat bool) {
		model := sonnet
		if flat {
			model = "cohere.command-text-v14"
		}
		split := min(int(cut), len(stream))
		full, _ := dialecttest.Read(decoder(model)(), stream)
		parts, _ := dialecttest.Read(decoder(model)(), stream[:split], stream[split:])
		if len(full) != len(parts) {
			t.Fatalf("%d events, cut at %d they are %d", len(full), split, len(parts))
		}
	})
}

// streamAllocs is what reading the recorded stream costs: a string for each text that
// is handed out, and the decoder itself.
const streamAllocs = 23

func TestStreamAllocs(t *testing.T) {
	stream := recorded(t)
	if n := testing.AllocsPerRun(100, func() { readStream(t, stream) }); n > streamAllocs {
		t.Errorf("%v allocations, at most %d before", n, streamAllocs)
	}
}

func readStream(t testing.TB, stream []byte) {
	t.Helper()
	d := decoder(sonnet)()
	if err := d.Feed(stream, func(*llm.Event) {}); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkStream(b *testing.B) {
	stream := bytes.Clone(recorded(b))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		readStream(b, stream)
	}
}

// flatAllocs is what reading three events of an old model costs, the decoder included.
const flatAllocs = 22

func TestFlatStreamAllocs(t *testing.T) {
	stream := chunks(`{"text":"a"}`, `{"text":"b"}`, `{"finish_reason":"COMPLETE","amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"outputTokenCount":7}}`)
	n := testing.AllocsPerRun(100, func() {
		if err := decoder("cohere.command-text-v14")().Feed(stream, func(*llm.Event) {}); err != nil {
			t.Fatal(err)
		}
	})
	if n > flatAllocs {
		t.Errorf("%v allocations, at most %d before", n, flatAllocs)
	}
}

// Halves of a character that come in two events are one, and what never comes is U+FFFD.
func TestHalvesOfCharacters(t *testing.T) {
	t.Parallel()
	stream := events(
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a\ud83d"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"\ude00"}}}`,
		"contentBlockStop", `{"contentBlockIndex":0}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"\ud83d"}}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"\ude00\ud83d"}}`,
		"contentBlockStop", `{"contentBlockIndex":1}`,
		"contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"x\":\"\ud83d"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\ude00\"}"}}}`,
		"contentBlockStop", `{"contentBlockIndex":2}`,
		"messageStop", `{"stopReason":"tool_use"}`,
	)
	got := dialecttest.ResponseOf(dialecttest.SplitEverywhere(t, stream, func() dialect.EventDecoder {
		return bedrock.Dialect().Upstreams[llm.ChatComplete].NewDecoder(&dialect.Incoming{To: &dialect.Target{Model: "amazon.nova-pro-v1:0"}})
	})).Choices[0].Parts
	if got[0].Text != "a😀" || got[1].Text != "😀\uFFFD" || got[2].Call.Arguments != `{"x":"😀"}` {
		t.Errorf("%+v", got)
	}
}
