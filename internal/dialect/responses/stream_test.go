package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

func stream(t testing.TB, r *llm.Response, strict bool) []byte {
	t.Helper()
	enc := client{}.NewEncoder(newResponseContext(t, strict))
	var out []byte
	dialect.Replay(r, func(ev *llm.Event) { out = enc.Append(out, ev) })
	return out
}

// A stream carries what the whole answer does.
func TestStreamsComeBack(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Choices[0].Parts = r.Choices[0].Parts[:9] // sound is not for providers of responses
	r.Choices[0].Logprobs = nil
	out := stream(t, r, true)
	events, err := dialecttest.Read(upstream{}.NewDecoder(nil), out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := dialecttest.DiffResponses(withoutCustom(bare(r)), withoutCustom(bare(dialecttest.ResponseOf(events)))); diff != nil {
		t.Errorf("%s\n%s", strings.Join(diff, "\n"), out)
	}
}

// withoutCustom leaves out which tools take free text: events do not say it.
func withoutCustom(r *llm.Response) *llm.Response {
	for i := range r.Choices[0].Parts {
		if c := r.Choices[0].Parts[i].Call; c != nil {
			c.Custom = false
		}
	}
	return r
}

// event is one event of a stream, taken apart.
type event struct {
	name string
	data map[string]any
}

func parse(t *testing.T, stream []byte) []event {
	t.Helper()
	var list []event
	for block := range bytes.SplitSeq(bytes.TrimSuffix(stream, []byte("\n\n")), []byte("\n\n")) {
		head, data, ok := strings.Cut(string(block), "\ndata: ")
		e := event{name: strings.TrimPrefix(head, "event: ")}
		if err := json.Unmarshal([]byte(data), &e.data); err != nil || !ok {
			t.Fatalf("%v in %s", err, block)
		}
		list = append(list, e)
	}
	return list
}

// The grammar of a stream holds whatever is said: numbers count up, items are added
// before anything is said in them and are done once, and the whole of each is what the
// last event says.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		out := randomStream(t, r)
		checkGrammar(t, fmt.Sprintf("seed %d", seed), parse(t, out))
	}
	checkGrammar(t, "the sample", parse(t, stream(t, sample(), true)))
	checkGrammar(t, "the lenient sample", parse(t, stream(t, sample(), false)))
}

func checkGrammar(t *testing.T, name string, events []event) {
	t.Helper()
	added, done := map[float64]any{}, map[float64]any{}
	text := map[string]string{}
	for i, e := range events {
		if e.data["sequence_number"] != float64(i) || e.data["type"] != e.name {
			t.Fatalf("%s: event %d is %v", name, i, e)
		}
		index, _ := e.data["output_index"].(float64)
		switch {
		case e.name == "response.output_item.added":
			if index != float64(len(added)) {
				t.Fatalf("%s: item %v is added as number %d", name, index, len(added))
			}
			added[index] = e.data["item"].(map[string]any)["id"]
		case e.name == "response.output_item.done":
			if done[index] != nil {
				t.Fatalf("%s: item %v is done twice", name, index)
			}
			done[index] = e.data["item"]
		case e.data["item_id"] != nil:
			if e.data["item_id"] != added[index] || done[index] != nil {
				t.Fatalf("%s: %s belongs to no open item: %v", name, e.name, e.data)
			}
		}
		key := fmt.Sprint(index, e.data["content_index"], e.data["summary_index"])
		if d, ok := e.data["delta"].(string); ok && !strings.HasPrefix(e.name, "response.audio.delta") {
			text[key] += d
		}
		for _, full := range []string{"text", "arguments", "refusal", "input"} {
			if w, ok := e.data[full].(string); ok && strings.HasSuffix(e.name, ".done") && w != text[key] && text[key]+w != "{}" {
				t.Fatalf("%s: %s says %q after %q", name, e.name, w, text[key])
			}
		}
	}
	final := events[len(events)-1].data["response"].(map[string]any)
	output := final["output"].([]any)
	if len(output) != len(added) || len(output) != len(done) {
		t.Fatalf("%s: %d items, %d added, %d done", name, len(output), len(added), len(done))
	}
	for i, it := range output {
		if a, b := fmt.Sprint(it), fmt.Sprint(done[float64(i)]); a != b {
			t.Fatalf("%s: item %d is\n%s and was\n%s", name, i, a, b)
		}
	}
}

// randomStream is a stream of blocks that may be open at a time, empty, or never ended.
func randomStream(t *testing.T, r *rand.Rand) []byte {
	enc := client{}.NewEncoder(newResponseContext(t, r.IntN(2) == 0))
	var out []byte
	send := func(ev llm.Event) { out = enc.Append(out, &ev) }
	send(llm.Event{Kind: llm.EventStart, Model: "m"})
	kinds := []llm.PartKind{llm.TextPart, llm.RefusalPart, llm.ReasoningPart, llm.SealedPart, llm.CallPart, llm.ImagePart, llm.AudioPart, llm.OpaquePart}
	var open []llm.Event
	for block := range 1 + r.IntN(6) {
		ev := llm.Event{Kind: llm.EventBlock, Block: block, Part: kinds[r.IntN(len(kinds))], ID: fmt.Sprint("call_", block), Name: []string{"weather", "sql"}[r.IntN(2)]}
		if ev.Part == llm.SealedPart {
			ev.Text = "sealed"
		}
		if ev.Part == llm.OpaquePart {
			ev.Raw = []byte(`{"type":"x","id":"o"}`)
		}
		send(ev)
		open = append(open, ev)
		for range r.IntN(5) {
			e := open[r.IntN(len(open))]
			sendDelta(r, e, send)
		}
		for len(open) > 0 && r.IntN(3) > 0 {
			i := r.IntN(len(open))
			send(llm.Event{Kind: llm.EventBlockEnd, Block: open[i].Block, Part: open[i].Part})
			open = append(open[:i], open[i+1:]...)
		}
	}
	send(llm.Event{Kind: llm.EventFinish, Finish: llm.Finish(r.IntN(5))})
	send(llm.Event{Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 1}})
	send(llm.Event{Kind: llm.EventEnd})
	return out
}

func sendDelta(r *rand.Rand, e llm.Event, send func(llm.Event)) {
	ev := llm.Event{Kind: llm.EventText, Block: e.Block, Part: e.Part, Text: []string{"", "a", "\"é😀\n"}[r.IntN(3)]}
	switch e.Part {
	case llm.CallPart:
		ev.Kind = llm.EventArguments
	case llm.ImagePart:
		ev.Kind, ev.Media = llm.EventMedia, &llm.Media{Data: "aGk="}
	case llm.AudioPart:
		ev.Kind, ev.Media = llm.EventMedia, &llm.Media{Data: "UklG"}
	case llm.ReasoningPart:
		if r.IntN(3) == 0 {
			ev.Kind = llm.EventSignature
		}
	case llm.SealedPart, llm.OpaquePart:
		return
	default:
		if r.IntN(4) == 0 {
			send(llm.Event{Kind: llm.EventCitation, Block: e.Block, Part: e.Part, Name: "openai", Raw: []byte(`{"type":"url_citation","url_citation":{"url":"u"}}`)})
			send(llm.Event{Kind: llm.EventLogprobs, Raw: []byte(`[{"token":"a"},{"token":"b"}]`)})
		}
	}
	send(ev)
}

// The events of a short answer, word for word.
func TestShortStream(t *testing.T) {
	t.Parallel()
	a := &dialect.ResponseContext{Call: &llm.Call{Surface: llm.CreateModelResponse, Model: "m"}, ID: "1", Created: 7, Strict: true}
	enc := client{}.NewEncoder(a)
	var out []byte
	for _, ev := range []llm.Event{
		{Kind: llm.EventStart, Model: "m-1"}, {Kind: llm.EventBlock}, {Kind: llm.EventText, Text: "H"}, {Kind: llm.EventText, Text: "i"}, {Kind: llm.EventBlockEnd},
		{Kind: llm.EventFinish, Finish: llm.FinishStop}, {Kind: llm.EventUsage, Usage: &llm.Usage{InputTokens: 1, OutputTokens: 2}}, {Kind: llm.EventEnd},
	} {
		out = enc.Append(out, &ev)
	}
	_, rest, _ := strings.Cut(string(out), "event: response.output_item.added")
	rest, _, _ = strings.Cut(rest, "event: response.completed")
	const want = `
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_10","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":3,"item_id":"msg_10","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_10","output_index":0,"content_index":0,"delta":"H","logprobs":[]}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_10","output_index":0,"content_index":0,"delta":"i","logprobs":[]}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":6,"item_id":"msg_10","output_index":0,"content_index":0,"text":"Hi","logprobs":[]}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":7,"item_id":"msg_10","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":{"id":"msg_10","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}]}}

`
	if rest != want {
		t.Errorf("got %s\nwant %s", rest, want)
	}
}

// An error ends the stream in both ways that clients look for, and nothing follows.
func TestFaultInStream(t *testing.T) {
	t.Parallel()
	enc := client{}.NewEncoder(newResponseContext(t, true))
	var out []byte
	for _, ev := range []llm.Event{
		{Kind: llm.EventStart}, {Kind: llm.EventBlock}, {Kind: llm.EventText, Text: "H"},
		{Kind: llm.EventFault, Name: "overloaded_error", Text: "Overloaded", Status: 529}, {Kind: llm.EventEnd},
	} {
		out = enc.Append(out, &ev)
	}
	events := parse(t, out)
	last, before := events[len(events)-1], events[len(events)-2]
	if before.name != "error" || before.data["code"] != "overloaded_error" || before.data["message"] != "Overloaded" {
		t.Errorf("%v", before)
	}
	response := last.data["response"].(map[string]any)
	if last.name != "response.failed" || response["status"] != "failed" || response["error"].(map[string]any)["code"] != "server_error" || response["store"] != events[0].data["response"].(map[string]any)["store"] || response["store"] != true {
		t.Errorf("%v", last)
	}
	if enc.(*encoder).Response() != nil {
		t.Error("a response that failed is to be kept")
	}
	if !strings.Contains(string(out), `"status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"H"`) {
		t.Errorf("what was said is not in %s", out)
	}
}

// An error before anything else is the first event, so that another target may answer.
func TestFaultInsteadOfStream(t *testing.T) {
	t.Parallel()
	out := client{}.NewEncoder(newResponseContext(t, true)).Append(nil, &llm.Event{Kind: llm.EventFault, Name: "overloaded_error", Text: "Overloaded", Status: 529})
	if events := parse(t, out); len(events) != 1 || events[0].name != "error" {
		t.Errorf("%s", out)
	}
	if status, failed := dialect.FirstEventError(out); !failed || status != 529 {
		t.Errorf("%d %v", status, failed)
	}
}

// What the last event says is what may be kept.
func TestResponseOfStream(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Choices[0].Logprobs = nil // which a replay tells when the calls have been told
	enc := client{}.NewEncoder(newResponseContext(t, true))
	dialect.Replay(r, func(ev *llm.Event) { enc.Append(nil, ev) })
	full := client{}.EncodeResponse(nil, r, newResponseContext(t, true))
	var a, b map[string]any
	if json.Unmarshal(enc.(*encoder).Response(), &a) != nil || json.Unmarshal(full, &b) != nil {
		t.Fatalf("no JSON: %s", enc.(*encoder).Response())
	}
	a["created_at"] = b["created_at"]
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("streamed %s\nwhole %s", enc.(*encoder).Response(), full)
	}
}

// A stream as OpenAI sends it: thoughts in parts, calls, and a search of its own.
const recordedStream = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[]}}

event: response.in_progress
data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","model":"gpt-5","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"**Pl","obfuscation":"x"}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":5,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"an**"}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":6,"item_id":"rs_1","output_index":0,"summary_index":1,"delta":"More"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**"},{"type":"summary_text","text":"More"}],"encrypted_content":"gAAAAAB"}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":8,"output_index":1,"item":{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":9,"output_index":2,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":10,"item_id":"msg_1","output_index":2,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":11,"item_id":"msg_1","output_index":2,"content_index":0,"delta":"Hi","logprobs":[]}

event: response.output_text.annotation.added
data: {"type":"response.output_text.annotation.added","sequence_number":12,"item_id":"msg_1","output_index":2,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","url":"https://a.example"}}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":13,"item_id":"msg_1","output_index":2,"content_index":0,"part":{"type":"output_text","text":"Hi","annotations":[{"type":"url_citation","url":"https://a.example"}]}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":14,"output_index":2,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":15,"output_index":3,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"f"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":16,"item_id":"fc_1","output_index":3,"delta":"{\"a\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":17,"item_id":"fc_1","output_index":3,"delta":"1}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":18,"output_index":3,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"f"}}

event: response.completed
data: {"type":"response.completed","sequence_number":19,"response":{"id":"resp_1","status":"completed","model":"gpt-5","output":[],"usage":{"input_tokens":36,"output_tokens":87,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":123}}}

`

func TestDecodeStream(t *testing.T) {
	t.Parallel()
	events := dialecttest.SplitEverywhere(t, []byte(recordedStream), func() dialect.EventDecoder { return upstream{}.NewDecoder(nil) })
	want := &llm.Response{
		ID: "resp_1", Model: "gpt-5",
		Choices: []llm.Choice{{Finish: llm.FinishToolCalls, Raw: "completed", Parts: []llm.Part{
			{Kind: llm.ReasoningPart, ID: "rs_1", Text: "**Plan**\n\nMore", Signature: "gAAAAAB", Shape: "responses"},
			{Kind: llm.OpaquePart, Shape: shapeName, Raw: []byte(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}`)},
			{Text: "Hi", Shape: shapeName, Citations: []byte(`[{"type":"url_citation","url":"https://a.example"}]`)},
			{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "call_1", Name: "f", Arguments: `{"a":1}`}},
		}}},
		Usage: llm.Usage{InputTokens: 36, OutputTokens: 87, TotalTokens: 123, ReasoningTokens: 3, Reported: true},
	}
	if diff := dialecttest.DiffResponses(want, dialecttest.ResponseOf(events)); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
	if last := events[len(events)-1]; last.Kind != llm.EventEnd {
		t.Errorf("the stream ends with %d", last.Kind)
	}
}

// Providers that tell only the whole of an item are understood too.
func TestDecodeStreamWithoutDeltas(t *testing.T) {
	t.Parallel()
	events, err := dialecttest.Read(upstream{}.NewDecoder(nil), []byte(
		`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","content":[{"type":"reasoning_text","text":"hm"}]}}`+"\n\n"+
			`data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"},{"type":"refusal","refusal":"No"}]}}`+"\n\n"+
			`data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`+"\n\n"+
			`data: {"type":"response.output_item.done","output_index":3,"item":{"type":"image_generation_call","id":"ig_1","result":"aGk=","output_format":"webp"}}`+"\n\n"+
			`data: {"type":"response.output_item.done","output_index":4,"item":{"type":"reasoning","id":"rs_2","encrypted_content":"sealed"}}`+"\n\n"+
			`data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`+"\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &llm.Response{Choices: []llm.Choice{{Finish: llm.FinishLength, Raw: "max_output_tokens", Parts: []llm.Part{
		{Kind: llm.ReasoningPart, ID: "rs_1", Text: "hm"}, {Text: "Hi"}, {Kind: llm.RefusalPart, Text: "No"},
		{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "f", Arguments: "{}"}},
		{Kind: llm.ImagePart, ID: "ig_1", Media: &llm.Media{MIME: "image/webp", Data: "aGk="}},
		{Kind: llm.ReasoningPart, ID: "rs_2", Signature: "sealed", Shape: "responses"},
	}}}}
	if diff := dialecttest.DiffResponses(want, dialecttest.ResponseOf(events)); diff != nil {
		t.Error(strings.Join(diff, "\n"))
	}
}

func TestDecodeStreamFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data string
		want       llm.Event
	}{
		{"an error", `{"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}`, llm.Event{Text: "Slow down", Name: "rate_limit_exceeded", Status: 429}},
		{"an error inside", `{"type":"error","error":{"type":"invalid_request_error","message":"No"}}`, llm.Event{Text: "No", Name: "invalid_request_error", Status: 400}},
		{"a failed response", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"Oh"}}}`, llm.Event{Text: "Oh", Name: "server_error", Status: 500}},
		{"no words", `{"type":"error"}`, llm.Event{Text: "the provider reported an error", Name: "server_error", Status: 500}},
	} {
		events, err := dialecttest.Read(upstream{}.NewDecoder(nil), []byte("data: "+c.data+"\n\ndata: {\"type\":\"response.completed\"}\n\n"))
		if err != nil || len(events) == 0 {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := events[len(events)-1]
		if got.Kind != llm.EventFault || got.Text != c.want.Text || got.Name != c.want.Name || got.Status != c.want.Status {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	for _, garbage := range []string{"data: <html>\n\n", "data: {\"type\":\n\n", "data: 7\n\n"} {
		if _, err := dialecttest.Read(upstream{}.NewDecoder(nil), []byte(garbage)); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%q: %v", garbage, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(recordedStream), 700)
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"output_index\":-1,\"item\":7}\n\n"), 3)
	f.Add([]byte("data: {\"type\":\"response.content_part.done\",\"part\":{\"type\":\"refusal\"}}\r\n\r\ndata: [DONE]\n\n"), 9)
	f.Fuzz(func(t *testing.T, stream []byte, index int) {
		d := upstream{}.NewDecoder(nil)
		enc := client{}.NewEncoder(newResponseContext(t, false))
		var out []byte
		ends := 0
		emit := func(ev *llm.Event) {
			out = enc.Append(out, ev)
			if ev.Kind == llm.EventEnd || ev.Kind == llm.EventFault {
				ends++
			}
		}
		index = max(0, min(index, len(stream)))
		for _, p := range [][]byte{stream[:index], stream[index:]} {
			if d.Feed(p, emit) != nil {
				return
			}
		}
		if d.Close(emit) != nil {
			return
		}
		if ends > 1 {
			t.Errorf("%d ends", ends)
		}
		if len(out) > 0 {
			parse(t, out)
		}
	})
}
