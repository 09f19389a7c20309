package guardedstream_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

const denyWindow = 9

// denied returns the events of a stream that is denied because of its secret.
func denied(t *testing.T, surface llm.Endpoint, j *judge, stream string) []received {
	t.Helper()
	if j.window == 0 && !j.hold {
		j.window = denyWindow
	}
	j.secret, j.deny = secret, true
	var cuts []int
	for cut := 0; cut < len(stream); cut += 50 {
		cuts = append(cuts, cut)
	}
	out, s := runStream(t, guardedstream.New(surface, j, guardedstream.Options{}), stream, cuts...)
	if !s.Denied() || leaks(out) || j.finishes != 1 {
		t.Fatalf("%s: denied %t after %d calls of Finish: %s", surface, s.Denied(), j.finishes, out)
	}
	if s.Err() != nil {
		t.Errorf("got error %v, want none", s.Err())
	}
	return parse(t, out)
}

func last(events []received, n int) received { return events[len(events)-n] }

func TestADeniedChatEndsWithContentFilterForEachOpenChoice(t *testing.T) {
	t.Parallel()
	stream := chatChunk(0, `"role":"assistant","content":"a"`, "null") + chatChunk(1, `"role":"assistant","content":"b"`, "null") +
		chatChunk(2, `"content":"c"`, "null") + chatChunk(1, "", `"stop"`) + chatChunk(0, `"content":`+quote(before+secret), "null") + chatUsage + "data: [DONE]\n\n"
	events := denied(t, llm.ChatComplete, &judge{window: denyWindow}, stream)
	reasons := map[any]any{}
	for _, e := range events {
		if e.data != "[DONE]" && (e.json["id"] != "chatcmpl-1" || e.json["model"] != "m-1" || e.json["created"] != 1.7e9 || e.json["object"] != "chat.completion.chunk") {
			t.Errorf("a chunk has another id, model or time: %s", e.data)
		}
		if reason := at(e.json, "choices", 0, "finish_reason"); reason != nil {
			reasons[at(e.json, "choices", 0, "index")] = reason
		}
	}
	if reasons[0.0] != "content_filter" || reasons[2.0] != "content_filter" || reasons[1.0] == nil {
		t.Errorf("got finish reasons %v", reasons)
	}
	if last(events, 1).data != "[DONE]" {
		t.Errorf("the stream does not end with [DONE]: %+v", last(events, 1))
	}
}

func TestADenialInHoldModeHasTheUsageOfTheProvider(t *testing.T) {
	t.Parallel()
	paths := map[llm.Endpoint][]any{
		llm.ChatComplete: {"usage", "total_tokens"}, llm.Messages: {"usage", "output_tokens"}, llm.CreateModelResponse: {"response", "usage", "total_tokens"},
	}
	offsets := map[llm.Endpoint]int{llm.ChatComplete: 2, llm.Messages: 2, llm.CreateModelResponse: 1}
	want := map[llm.Endpoint]any{llm.ChatComplete: 900.0, llm.Messages: 20.0, llm.CreateModelResponse: 900.0}
	for surface, path := range paths {
		events := denied(t, surface, &judge{hold: true}, streamOf(surface, before+secret, after))
		if got := at(last(events, offsets[surface]).json, path...); got != want[surface] {
			t.Errorf("%s: got usage %v, want %v", surface, got, want[surface])
		}
	}
}

func TestADeniedCompletionEndsWithContentFilter(t *testing.T) {
	t.Parallel()
	for _, j := range []*judge{{window: denyWindow}, {hold: true}} {
		events := denied(t, llm.Complete, j, completionStream("a text of some words ", "and "+secret, after))
		end := last(events, 2)
		if at(end.json, "choices", 0, "finish_reason") != "content_filter" || at(end.json, "choices", 0, "text") != "" || end.json["object"] != "text_completion" {
			t.Errorf("got %s", end.data)
		}
	}
}

func TestADeniedMessageEndsWithRefusal(t *testing.T) {
	t.Parallel()
	thinking := messagesBlock(0, `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", "thinking", "let me see", " what to do")
	stream := named("message_start", messageStart) + thinking +
		messagesBlock(1, `{"type":"text","text":""}`, "text_delta", "text", before, secret+after) + messagesEnd("end_turn")
	for _, j := range []*judge{{window: denyWindow}, {hold: true}} {
		events := denied(t, llm.Messages, j, stream)
		open := checkBlocks(t, events)
		if len(open) > 0 {
			t.Errorf("blocks %v are open", open)
		}
		if events[0].name != "message_start" || at(events[0].json, "message", "id") != "msg_1" {
			t.Errorf("got first event %+v", events[0])
		}
		end := last(events, 2)
		if at(end.json, "delta", "stop_reason") != "refusal" || at(end.json, "usage", "output_tokens") == nil || end.name != "message_delta" {
			t.Errorf("got %s", end.data)
		}
		if last(events, 1).name != "message_stop" {
			t.Errorf("got last event %+v", last(events, 1))
		}
	}
}

// checkBlocks fails when the indexes of blocks do not follow each other, and returns the open ones.
func checkBlocks(t *testing.T, events []received) (open []float64) {
	t.Helper()
	next := 0.0
	for _, e := range events {
		index, ok := e.json["index"].(float64)
		if !ok {
			continue
		}
		switch e.name {
		case "content_block_start":
			if index != next {
				t.Errorf("block %v follows %v blocks", index, next)
			}
			next++
			open = append(open, index)
		case "content_block_stop":
			open = slices.DeleteFunc(open, func(i float64) bool { return i == index })
		default:
			if !slices.Contains(open, index) {
				t.Errorf("event of a closed block: %s", e.data)
			}
		}
	}
	return open
}

func TestADeniedResponseEndsIncompleteWithTheReleasedOutput(t *testing.T) {
	t.Parallel()
	for _, j := range []*judge{{window: denyWindow}, {hold: true}} {
		events := denied(t, llm.CreateModelResponse, j, responsesStream(before, "more text, ", secret, after))
		for i, e := range events {
			if e.json["sequence_number"] != float64(i) || e.json["type"] != e.name {
				t.Errorf("event %d is %s", i, e.data)
			}
		}
		end := last(events, 1)
		if end.name != "response.incomplete" || events[0].name != "response.created" {
			t.Fatalf("the stream goes from %s to %s", events[0].name, end.name)
		}
		response, _ := end.json["response"].(map[string]any)
		if response["status"] != "incomplete" || at(response, "incomplete_details", "reason") != "content_filter" || response["id"] != "resp_1" {
			t.Errorf("got %s", end.data)
		}
		released := textOf(t, llm.CreateModelResponse, eventsText(events))
		text, _ := at(response, "output", 0, "content", 0, "text").(string)
		if text != released || j.window > 0 && released == "" {
			t.Errorf("got output %q, want %q", text, released)
		}
		if released != "" && (last(events, 2).name != "response.output_item.done" || at(last(events, 2).json, "item", "status") != "incomplete") {
			t.Errorf("the item is not closed: %+v", last(events, 2))
		}
	}
}

// eventsText writes events again.
func eventsText(events []received) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(named(e.name, e.data))
	}
	return b.String()
}

func TestAStreamDeniedBeforeItsFirstEventIsComplete(t *testing.T) {
	t.Parallel()
	first := map[llm.Endpoint]string{
		llm.ChatComplete: chatChunk(0, `"role":"assistant","content":`+quote(secret), "null"),
		llm.Complete:     completionStream(secret),
		llm.Messages: named("message_start", strings.Replace(messageStart, `"content":[]`, `"content":[{"type":"text","text":`+quote(secret)+`}]`, 1)) +
			messagesBlock(0, `{"type":"text","text":`+quote(secret)+`}`, "text_delta", "text"),
		llm.CreateModelResponse: named("response.completed", `{"type":"response.completed","sequence_number":0,"response":`+
			responsesObject("completed", responsesItem("completed", secret), responsesUsage)+`}`),
	}
	names := map[llm.Endpoint][]string{
		llm.ChatComplete: {"", ""}, llm.Complete: {"", ""}, llm.Messages: {"message_start", "message_delta", "message_stop"},
		llm.CreateModelResponse: {"response.created", "response.incomplete"},
	}
	for surface, stream := range first {
		events := denied(t, surface, &judge{window: denyWindow}, stream)
		var got []string
		for _, e := range events {
			got = append(got, e.name)
		}
		if !slices.Equal(got, names[surface]) {
			t.Errorf("%s: got events %q, want %q", surface, got, names[surface])
		}
		if surface == llm.ChatComplete && at(events[0].json, "choices", 0, "delta", "role") != "assistant" {
			t.Errorf("the chunk has no role: %s", events[0].data)
		}
	}
}

func TestFinishDeniesAStreamWithoutHolding(t *testing.T) {
	t.Parallel()
	for _, surface := range surfaces {
		j := &judge{window: 3, final: func(*guardedstream.Answer) guardedstream.Final { return guardedstream.Final{Deny: true} }}
		out, s := runStream(t, guardedstream.New(surface, j, guardedstream.Options{}), streamOf(surface, "some text"))
		if !s.Denied() || j.finishes != 1 {
			t.Errorf("%s: denied %t after %d calls", surface, s.Denied(), j.finishes)
		}
		events := parse(t, out)
		if ends := fmt.Sprint(last(events, 1).name, last(events, 1).data); !strings.Contains(ends, "[DONE]") && !strings.Contains(ends, "message_stop") && !strings.Contains(ends, "incomplete") {
			t.Errorf("%s: got last event %s", surface, ends)
		}
	}
}

func TestAfterADenialTheInputHasNoEffect(t *testing.T) {
	t.Parallel()
	j := &judge{window: denyWindow, secret: secret, deny: true}
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{})
	if _, err := s.Append(t.Context(), nil, []byte(chatStream(secret))); err != nil || !s.Denied() {
		t.Fatalf("denied %t, error %v", s.Denied(), err)
	}
	out, _ := s.Append(t.Context(), nil, []byte(chatStream("more")))
	if out, _ = s.Close(t.Context(), out); len(out) > 0 {
		t.Errorf("got %q after the denial", out)
	}
}

func TestTheFinalAnswerHasTheCallsOfTheStream(t *testing.T) {
	t.Parallel()
	j := &judge{}
	run(t, llm.ChatComplete, j, toolStream())
	got, _ := json.Marshal(j.result.Calls)
	want := `[{"Channel":{"Kind":"arguments","Choice":0,"Block":0},"ID":"call_a","Name":"weather"},` +
		`{"Channel":{"Kind":"arguments","Choice":0,"Block":1},"ID":"call_b","Name":"time"}]`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// toolStream is a chat stream with a text and two tool calls.
func toolStream() string {
	return chatChunk(0, `"role":"assistant","content":"calling"`, "null") +
		chatChunk(0, `"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]`, "null") +
		chatChunk(0, `"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]`, "null") +
		chatChunk(0, `"tool_calls":[{"index":0,"function":{"arguments":"\"Rome\"}"}},{"index":1,"id":"call_b","type":"function","function":{"name":"time","arguments":"{\"zone\""}}]`, "null") +
		chatChunk(0, `"tool_calls":[{"index":1,"function":{"arguments":":\"UTC\"}"}}]`, "null") +
		chatChunk(0, "", `"tool_calls"`) + "data: [DONE]\n\n"
}

func TestTheUsageIsNotRepeatedInADeniedChat(t *testing.T) {
	t.Parallel()
	stream := chatChunk(0, `"content":"text"`, `"stop"`) + chatUsage + chatChunk(1, `"content":`+quote(secret), "null")
	events := denied(t, llm.ChatComplete, &judge{window: denyWindow}, stream)
	usages := 0
	for _, e := range events {
		if at(e.json, "usage", "total_tokens") != nil {
			usages++
		}
	}
	if usages != 1 {
		t.Errorf("got %d usages, want one", usages)
	}
}

func TestADeniedToolCallIsNotComplete(t *testing.T) {
	t.Parallel()
	stream := callsResponse(`{"city":"Rome, the capital of Italy"}`, secret)
	events := denied(t, llm.CreateModelResponse, &judge{window: denyWindow}, stream)
	output, _ := at(last(events, 1).json, "response", "output").([]any)
	if len(output) != 2 || at(output[0], "status") != "completed" || at(output[0], "arguments") != `{"city":"Rome, the capital of Italy"}` || at(output[1], "status") != "incomplete" {
		t.Errorf("got output %v", output)
	}
}
