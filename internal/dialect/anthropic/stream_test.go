package anthropic_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// recorded are answers as the provider's documentation shows them, streamed and whole.
// Source: https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11.
var recorded = []string{"text", "tools", "thinking", "search"}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newDecoder() dialect.EventDecoder { return upstream.NewDecoder(&dialect.Incoming{}) }

func newResponseContext() *dialect.ResponseContext {
	return &dialect.ResponseContext{Call: &llm.Call{Surface: llm.Messages, Model: "asked"}, ID: "01hz0000000000000000000000", Created: 1700000000}
}

// TestStreamsAreTheWholeAnswer: however a stream is cut it comes to the whole answer.
func TestStreamsAreTheWholeAnswer(t *testing.T) {
	t.Parallel()
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := dialecttest.SplitEverywhere(t, read(t, name+".sse"), newDecoder)
			buffered, err := upstream.DecodeResponse(&dialect.Incoming{Body: read(t, name+".json")})
			if err != nil {
				t.Fatal(err)
			}
			streamed := dialecttest.ResponseOf(events)
			extras(buffered)
			extras(streamed)
			if diff := dialecttest.DiffResponses(streamed, buffered); diff != nil {
				t.Error(strings.Join(diff, "\n"))
			}
		})
	}
}

// extras brings what stands beside an answer into one place and order. The tier is told
// at the beginning of a stream, where nobody looks for it.
func extras(r *llm.Response) {
	c := &r.Choices[0]
	c.Extra = append(c.Extra, r.Extra...)
	r.Extra, r.Usage.Tier = nil, ""
	c.Extra = slices.DeleteFunc(c.Extra, func(p llm.Param) bool { return p.Name == "service_tier" })
	slices.SortFunc(c.Extra, func(a, b llm.Param) int { return strings.Compare(a.Name, b.Name) })
}

// TestStreamsComeBack: a stream that is read and written again is the same stream.
func TestStreamsComeBack(t *testing.T) {
	t.Parallel()
	for _, name := range recorded {
		events, err := dialecttest.Read(newDecoder(), read(t, name+".sse"))
		if err != nil {
			t.Fatal(err)
		}
		out := write(events)
		again, err := dialecttest.Read(newDecoder(), out)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		a, b := dialecttest.ResponseOf(events), dialecttest.ResponseOf(again)
		extras(a)
		extras(b)
		if diff := dialecttest.DiffResponses(a, b); diff != nil {
			t.Errorf("%s: %s\n%s", name, strings.Join(diff, "\n"), out)
		}
	}
}

// TestRepliesComeBack: the same for whole answers, and for those that are replayed.
func TestRepliesComeBack(t *testing.T) {
	t.Parallel()
	for _, name := range recorded {
		r, err := upstream.DecodeResponse(&dialect.Incoming{Body: read(t, name+".json")})
		if err != nil {
			t.Fatal(err)
		}
		body := client.EncodeResponse(nil, r, newResponseContext())
		again, err := upstream.DecodeResponse(&dialect.Incoming{Body: body})
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if diff := dialecttest.DiffResponses(r, again); diff != nil {
			t.Errorf("%s: %s\n%s", name, strings.Join(diff, "\n"), body)
		}
		enc := client.NewEncoder(newResponseContext())
		var stream []byte
		dialect.Replay(r, func(e *llm.Event) { stream = enc.Append(stream, e) })
		events, err := dialecttest.Read(newDecoder(), stream)
		if err != nil {
			t.Fatal(err)
		}
		replayed := dialecttest.ResponseOf(events)
		extras(replayed)
		extras(r)
		if diff := dialecttest.DiffResponses(r, replayed); diff != nil {
			t.Errorf("%s, replayed: %s\n%s", name, strings.Join(diff, "\n"), stream)
		}
	}
}

func write(events []llm.Event) []byte {
	enc := client.NewEncoder(newResponseContext())
	var out []byte
	for i := range events {
		out = enc.Append(out, &events[i])
	}
	return out
}

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	head := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
	for typ, status := range map[string]int{"overloaded_error": 529, "timeout_error": 504, "rate_limit_error": 429, "billing_error": 402, "new_error": 500} {
		events, err := dialecttest.Read(newDecoder(), []byte(head+"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\""+typ+"\",\"message\":\"Sorry\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
		if err != nil {
			t.Fatal(err)
		}
		last := events[len(events)-1]
		if last.Kind != llm.EventFault || last.Name != typ || last.Text != "Sorry" || last.Status != status {
			t.Errorf("%s: %+v", typ, last)
		}
		if out := string(write(events)); !strings.HasSuffix(out, "\"message\":\"Sorry\"}}\n\n") {
			t.Errorf("%s: %s", typ, out)
		}
	}
}

// TestCutStreamsHaveNoEnd: without message_stop there is no EventEnd.
func TestCutStreamsHaveNoEnd(t *testing.T) {
	t.Parallel()
	stream := read(t, "tools.sse")
	for i := range len(stream) - len("\"message_stop\"}\n\n") {
		events, err := dialecttest.Read(newDecoder(), stream[:i])
		if err != nil {
			t.Fatal(err)
		}
		if n := len(events); n > 0 && events[n-1].Kind == llm.EventEnd {
			t.Fatalf("cut at byte %d it ends", i)
		}
	}
}

func TestGarbageIsRefused(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{
		"data: <html>\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_del\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{}}\n\n",
	} {
		if _, err := dialecttest.Read(newDecoder(), []byte(stream)); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", stream, err)
		}
	}
	for _, body := range []string{"", "{}", "[]", `{"type":"message"`, `{"type":"error"}`} {
		if _, err := upstream.DecodeResponse(&dialect.Incoming{Body: []byte(body)}); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", body, err)
		}
	}
	if _, err := dialecttest.Read(newDecoder(), []byte("event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"from_the_future\",\"x\":1}\n\n")); err != nil {
		t.Errorf("what nobody knows yet: %v", err)
	}
}

// TestFinish: why an answer ended, in both directions.
func TestFinish(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]llm.Finish{
		"end_turn": llm.FinishStop, "stop_sequence": llm.FinishStop, "pause_turn": llm.FinishStop, "tool_use": llm.FinishToolCalls,
		"max_tokens": llm.FinishLength, "model_context_window_exceeded": llm.FinishLength, "refusal": llm.FinishFilter, "new": llm.FinishStop,
	} {
		r, err := upstream.DecodeResponse(&dialect.Incoming{Body: []byte(`{"type":"message","content":[],"stop_reason":"` + reason + `"}`)})
		if err != nil || r.Choices[0].Finish != want || r.Choices[0].Raw != reason {
			t.Errorf("%s: %+v, %v", reason, r, err)
		}
	}
	for _, c := range []struct {
		finish    llm.Finish
		raw, stop string
		want      string
	}{
		{llm.FinishStop, "stop", "", "end_turn"},
		{llm.FinishStop, "stop", "X", "stop_sequence"},
		{llm.FinishStop, "pause_turn", "", "pause_turn"},
		{llm.FinishLength, "length", "", "max_tokens"},
		{llm.FinishLength, "model_context_window_exceeded", "", "model_context_window_exceeded"},
		{llm.FinishToolCalls, "tool_calls", "", "tool_use"},
		{llm.FinishToolCalls, "end_turn", "", "tool_use"}, // of a provider that means something else by it
		{llm.FinishFilter, "SAFETY", "", "refusal"},
		{llm.FinishNone, "", "", "end_turn"},
	} {
		body := client.EncodeResponse(nil, &llm.Response{Choices: []llm.Choice{{Finish: c.finish, Raw: c.raw, StopText: c.stop}}}, newResponseContext())
		if !strings.Contains(string(body), `"stop_reason":"`+c.want+`"`) {
			t.Errorf("%v %s: %s", c.finish, c.raw, body)
		}
	}
}

// TestNumbersOfBlocks: servers that only speak the shape may leave numbers of blocks out, or
// begin with 1.
func TestNumbersOfBlocks(t *testing.T) {
	t.Parallel()
	var stream []byte
	for _, data := range []string{
		`{"type":"message_start","message":{"id":"m"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"d","name":"g","input":{}}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"y\":1}"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}`,
		`{"type":"content_block_stop","index":3}`, `{"type":"content_block_stop","index":4}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
	} {
		stream = append(stream, "data: "+data+"\n\n"...)
	}
	parts := dialecttest.ResponseOf(dialecttest.SplitEverywhere(t, stream, newDecoder)).Choices[0].Parts
	if len(parts) != 3 || parts[0].Text != "hi" || parts[1].Call.Arguments != `{"x":1}` || parts[2].Call.Arguments != `{"y":1}` {
		t.Errorf("%+v", parts)
	}
}
