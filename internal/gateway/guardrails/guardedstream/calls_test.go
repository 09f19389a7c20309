package guardedstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

// removing is a judge that removes calls.
func removing(calls ...int) *judge {
	return &judge{hold: true, final: func(*guardedstream.Answer) guardedstream.Final { return guardedstream.Final{RemoveCalls: calls} }}
}

func TestRemovedChatCallsLeaveTheOthersComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remove []int
		want   string
		reason string
	}{
		{"none", nil, `0 call_a weather {"city":"Rome"};1 call_b time {"zone":"UTC"};`, "tool_calls"},
		{"the first", []int{0}, `0 call_b time {"zone":"UTC"};`, "tool_calls"},
		{"the second", []int{1}, `0 call_a weather {"city":"Rome"};`, "tool_calls"},
		{"all", []int{0, 1}, ``, "stop"},
	} {
		out := run(t, llm.ChatComplete, removing(c.remove...), toolStream())
		ids, names, arguments := map[float64]string{}, map[float64]string{}, map[float64]string{}
		reason := ""
		for _, e := range parse(t, out) {
			calls, _ := at(e.json, "choices", 0, "delta", "tool_calls").([]any)
			for _, call := range calls {
				index := call.(map[string]any)["index"].(float64)
				ids[index] += fmt.Sprint(orEmpty(at(call, "id")))
				names[index] += fmt.Sprint(orEmpty(at(call, "function", "name")))
				arguments[index] += fmt.Sprint(orEmpty(at(call, "function", "arguments")))
			}
			reason += fmt.Sprint(orEmpty(at(e.json, "choices", 0, "finish_reason")))
		}
		got := ""
		for i := range len(ids) {
			n := float64(i)
			got += fmt.Sprintf("%d %s %s %s;", i, ids[n], names[n], arguments[n])
		}
		if got != c.want || reason != c.reason {
			t.Errorf("%s: got %q and %q, want %q and %q", c.name, got, reason, c.want, c.reason)
		}
	}
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func toolBlock(index int, id, name string, deltas ...string) string {
	return messagesBlock(index, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name), "input_json_delta", "partial_json", deltas...)
}

func TestRemovedMessagesCallsLeaveTheOthersComplete(t *testing.T) {
	t.Parallel()
	stream := named("message_start", messageStart) + messagesBlock(0, `{"type":"text","text":""}`, "text_delta", "text", "calling") +
		toolBlock(1, "toolu_a", "weather", `{"city":`, `"Rome"}`) + toolBlock(2, "toolu_b", "time", `{"zone":"UTC"}`) + messagesEnd("tool_use")
	for _, c := range []struct {
		remove []int
		want   string
	}{
		{[]int{0}, "text toolu_b tool_use"}, {[]int{1}, "text toolu_a tool_use"}, {[]int{0, 1}, "text end_turn"}, {nil, "text toolu_a toolu_b tool_use"},
	} {
		events := parse(t, run(t, llm.Messages, removing(c.remove...), stream))
		if open := checkBlocks(t, events); len(open) > 0 {
			t.Errorf("blocks %v are open", open)
		}
		var got []string
		for _, e := range events {
			if e.name == "content_block_start" {
				got = append(got, strings.TrimSpace(fmt.Sprint(orEmpty(at(e.json, "content_block", "id")))))
			}
			if reason, ok := at(e.json, "delta", "stop_reason").(string); ok {
				got = append(got, reason)
			}
		}
		got[0] = "text"
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("without %v: got %q, want %q", c.remove, text, c.want)
		}
	}
}

// responsesCall returns the events of a function call.
func responsesCall(output int, id, arguments string) string {
	item := func(status, arguments string) string {
		return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":%q,"call_id":%q,"name":"f","arguments":%s}`, id, status, id, quote(arguments))
	}
	head := fmt.Sprintf(`"output_index":%d`, output)
	var b strings.Builder
	b.WriteString(named("response.output_item.added", `{"type":"response.output_item.added","sequence_number":7,`+head+`,"item":`+item("in_progress", "")+`}`))
	for _, d := range split(arguments, 4) {
		b.WriteString(named("response.function_call_arguments.delta", `{"type":"response.function_call_arguments.delta","sequence_number":7,`+head+`,"item_id":"fc_1","delta":`+quote(d)+`}`))
	}
	b.WriteString(named("response.function_call_arguments.done", `{"type":"response.function_call_arguments.done","sequence_number":7,`+head+`,"item_id":"fc_1","arguments":`+quote(arguments)+`}`))
	b.WriteString(named("response.output_item.done", `{"type":"response.output_item.done","sequence_number":7,`+head+`,"item":`+item("completed", arguments)+`}`))
	return b.String()
}

func callsResponse(list ...string) string {
	stream := named("response.created", `{"type":"response.created","sequence_number":0,"response":`+responsesObject("in_progress", "", "null")+`}`)
	var items []string
	for i, arguments := range list {
		id := fmt.Sprintf("call_%d", i)
		stream += responsesCall(i, id, arguments)
		items = append(items, fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":%q,"name":"f","arguments":%s}`, id, id, quote(arguments)))
	}
	return stream + named("response.completed", `{"type":"response.completed","sequence_number":9,"response":`+responsesObject("completed", strings.Join(items, " , "), responsesUsage)+`}`)
}

func TestRemovedResponsesCallsLeaveTheOthersComplete(t *testing.T) {
	t.Parallel()
	stream := callsResponse(`{"a":1}`, `{"b":2}`, `{"c":3}`)
	for _, c := range []struct {
		remove []int
		want   string
	}{
		{nil, `{"a":1}{"b":2}{"c":3}`}, {[]int{0}, `{"b":2}{"c":3}`}, {[]int{1}, `{"a":1}{"c":3}`}, {[]int{2}, `{"a":1}{"b":2}`},
		{[]int{0, 2}, `{"b":2}`}, {[]int{0, 1, 2}, ``},
	} {
		events := parse(t, run(t, llm.CreateModelResponse, removing(c.remove...), stream))
		output, _ := at(last(events, 1).json, "response", "output").([]any)
		complete, deltas, next := "", "", 0.0
		for _, item := range output {
			complete += at(item, "arguments").(string)
		}
		for _, e := range events {
			if d, ok := e.json["delta"].(string); ok {
				deltas += d
			}
			if e.name == "response.output_item.added" {
				if e.json["output_index"] != next {
					t.Errorf("without %v: item %v follows %v items", c.remove, e.json["output_index"], next)
				}
				next++
			}
		}
		if complete != c.want || deltas != c.want {
			t.Errorf("without %v: got output %q and deltas %q, want %q", c.remove, complete, deltas, c.want)
		}
	}
}

func TestEditedArgumentsAreValidJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, secret, arguments, want string }{
		{"a string", "hidden", `{"a":"the hidden word","b":[1,2]}`, `{"a":"the [R] word","b":[1,2]}`},
		{"a number", "4111", `{"card":4111,"b":1}`, `{"card":"[R]","b":1}`},
		{"a part of a number", "4111", `{"card":94111.5}`, `{"card":91111.5}`},
		{"a text across strings", `one","two`, `{"a":["one","two"]}`, `{"a":["[R]",""]}`},
		{"a name", "hidden", `{"hidden":true}`, `{"[R]":true}`},
		{"a text after an escape", `hidden`, `{"a":"\\\"hidden\n"}`, `{"a":"\\\"[R]\n"}`},
		{"a text that is not JSON", `hidden`, `call hidden now`, `call [R] now`},
	} {
		for _, width := range []int{1, 2, 5, 100} {
			for _, mode := range []*judge{{window: 12}, {hold: true}} {
				j := &judge{window: mode.window, hold: mode.hold, secret: c.secret, with: "[R]"}
				stream := named("message_start", messageStart) + toolBlock(0, "toolu_a", "weather", split(c.arguments, width)...) + messagesEnd("tool_use")
				got := ""
				for _, e := range parse(t, run(t, llm.Messages, j, stream)) {
					got += fmt.Sprint(orEmpty(at(e.json, "delta", "partial_json")))
				}
				if got != c.want || json.Valid([]byte(c.arguments)) != json.Valid([]byte(got)) {
					t.Errorf("%s in parts of %d, hold %t: got %s, want %s", c.name, width, j.hold, got, c.want)
				}
			}
		}
	}
}

func TestEditedResponsesCallsAreConsistent(t *testing.T) {
	t.Parallel()
	for _, j := range []*judge{{window: 10}, {hold: true}} {
		j.secret, j.with = "hidden", "[R]"
		events := parse(t, run(t, llm.CreateModelResponse, j, callsResponse(`{"a":"a hidden word"}`)))
		const want = `{"a":"a [R] word"}`
		deltas := ""
		for _, e := range events {
			if d, ok := e.json["delta"].(string); ok {
				deltas += d
			}
			if e.name == "response.function_call_arguments.done" && e.json["arguments"] != want {
				t.Errorf("got %s", e.data)
			}
			if e.name == "response.output_item.done" && at(e.json, "item", "arguments") != want {
				t.Errorf("got %s", e.data)
			}
		}
		if got := at(last(events, 1).json, "response", "output", 0, "arguments"); got != want || deltas != want {
			t.Errorf("got output %q and deltas %q, want %q", got, deltas, want)
		}
	}
}

func TestEscapesInArgumentsCountAsOneCharacter(t *testing.T) {
	t.Parallel()
	// The judge of this test finds the escaped form only when the window is in characters.
	escaped := ""
	for _, r := range "hidden" {
		escaped += fmt.Sprintf(`\u%04x`, r)
	}
	for _, width := range []int{1, 5, 6, 7, 13} {
		j := &judge{window: 6, secret: escaped, deny: true}
		stream := named("message_start", messageStart) + toolBlock(0, "toolu_a", "weather", split(`{"a":"`+escaped+`"}`, width)...) + messagesEnd("tool_use")
		out := run(t, llm.Messages, j, stream)
		if strings.Contains(out, `u0068`) {
			t.Errorf("in parts of %d: the beginning of the text leaks: %s", width, out)
		}
	}
}

func TestARemovedFunctionCallIsNull(t *testing.T) {
	t.Parallel()
	stream := chatChunk(0, `"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}`, "null") +
		chatChunk(0, `"function_call":{"arguments":"{}"}`, "null") + chatChunk(0, "", `"function_call"`) + chatEnd
	want := chatChunk(0, `"role":"assistant","content":null,"function_call":null`, "null") + chatChunk(0, "", `"stop"`) + chatEnd
	if out := run(t, llm.ChatComplete, removing(0), stream); out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestACallWithTheFinishReasonIsRemovedWithoutIt(t *testing.T) {
	t.Parallel()
	stream := chatChunk(0, `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`, `"tool_calls"`) + chatEnd
	want := chatChunk(0, `"tool_calls":[]`, `"stop"`) + chatEnd
	if out := run(t, llm.ChatComplete, removing(0), stream); out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
