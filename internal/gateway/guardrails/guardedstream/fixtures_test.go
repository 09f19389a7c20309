package guardedstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

// judge finds a secret in each text. It is the Judge of the tests.
type judge struct {
	window int
	hold   bool
	secret string
	deny   bool
	with   string
	final  func(a *guardedstream.Answer) guardedstream.Final

	judged   []guardedstream.Piece
	result   *guardedstream.Answer
	finishes int
}

func (j *judge) Window() int { return j.window }
func (j *judge) Hold() bool  { return j.hold }

func (j *judge) Piece(_ context.Context, p guardedstream.Piece) guardedstream.Verdict {
	j.judged = append(j.judged, p)
	return guardedstream.Verdict{Deny: j.deny && j.secret != "" && strings.Contains(p.Text, j.secret), Edits: j.edits(p.Text, p.Context)}
}

func (j *judge) edits(text string, from int) (edits []guardedstream.Edit) {
	if j.secret == "" || j.deny {
		return nil
	}
	for at := 0; ; {
		i := strings.Index(text[at:], j.secret)
		if i < 0 {
			return edits
		}
		start := at + i
		at = start + len(j.secret)
		if at > from {
			edits = append(edits, guardedstream.Edit{Start: max(start, from), End: at, With: j.with})
		}
	}
}

func (j *judge) Finish(_ context.Context, a *guardedstream.Answer) (f guardedstream.Final) {
	j.result = a
	j.finishes++
	if j.final != nil {
		return j.final(a)
	}
	if !j.hold || j.secret == "" || j.window > 0 {
		return f
	}
	f.Edits = map[guardedstream.Channel][]guardedstream.Edit{}
	for _, t := range a.Texts {
		f.Deny = f.Deny || j.deny && strings.Contains(t.Text, j.secret)
		f.Edits[t.Channel] = j.edits(t.Text, 0)
	}
	return f
}

// run passes a stream through a guard, in parts that end at the cuts.
func run(t *testing.T, surface llm.Endpoint, j guardedstream.Judge, stream string, cuts ...int) string {
	t.Helper()
	out, _ := runStream(t, guardedstream.New(surface, j, guardedstream.Options{}), stream, cuts...)
	return out
}

func runStream(t *testing.T, s *guardedstream.Stream, stream string, cuts ...int) (string, *guardedstream.Stream) {
	t.Helper()
	var out []byte
	var err error
	at := 0
	for _, cut := range append(cuts, len(stream)) {
		if out, err = s.Append(t.Context(), out, []byte(stream[at:cut])); err != nil {
			t.Fatal(err)
		}
		at = cut
	}
	if out, err = s.Close(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	return string(out), s
}

// surfaces are the formats of streams.
var surfaces = []llm.Endpoint{llm.ChatComplete, llm.Complete, llm.Messages, llm.CreateModelResponse}

// streamOf returns a stream with one text in deltas.
func streamOf(surface llm.Endpoint, deltas ...string) string {
	switch surface {
	case llm.Messages:
		return messagesStream(deltas...)
	case llm.CreateModelResponse:
		return responsesStream(deltas...)
	case llm.Complete:
		return completionStream(deltas...)
	}
	return chatStream(deltas...)
}

func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func chatChunk(choice int, delta, reason string) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","system_fingerprint":"fp_1",`+
		`"choices":[{"index":%d,"delta":{%s},"finish_reason":%s}],"usage":null}`+"\n\n", choice, delta, reason)
}

const chatUsage = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m-1","choices":[],` +
	`"usage":{"prompt_tokens":800,"completion_tokens":100,"total_tokens":900}}` + "\n\n"

func chatStream(deltas ...string) string {
	var b strings.Builder
	b.WriteString(chatChunk(0, `"role":"assistant","content":""`, "null"))
	for _, d := range deltas {
		b.WriteString(chatChunk(0, `"content":`+quote(d), "null"))
	}
	b.WriteString(chatChunk(0, "", `"stop"`) + chatUsage + "data: [DONE]\n\n")
	return b.String()
}

func completionStream(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, `data: {"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m-1","choices":[{"text":%s,"index":0,"logprobs":null,"finish_reason":null}]}`+"\n\n", quote(d))
	}
	b.WriteString(`data: {"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m-1","choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]}` + "\n\n")
	return b.String() + "data: [DONE]\n\n"
}

func named(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

const messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-1","content":[],` +
	`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":880,"output_tokens":1}}}`

// messagesBlock returns the events of one content block.
func messagesBlock(index int, start, deltaType, member string, deltas ...string) string {
	var b strings.Builder
	b.WriteString(named("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, start)))
	for _, d := range deltas {
		b.WriteString(named("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, index, deltaType, member, quote(d))))
	}
	if deltaType == "thinking_delta" {
		b.WriteString(named("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`, index)))
	}
	return b.String() + named("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func messagesEnd(reason string) string {
	return named("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":20}}`, reason)) +
		named("message_stop", `{"type":"message_stop"}`)
}

func messagesStream(deltas ...string) string {
	return named("message_start", messageStart) + named("ping", `{"type":"ping"}`) +
		messagesBlock(0, `{"type":"text","text":""}`, "text_delta", "text", deltas...) + messagesEnd("end_turn")
}

// responsesItem returns a message item with this text.
func responsesItem(status, text string) string {
	return `{"id":"msg_1","type":"message","status":"` + status + `","role":"assistant","content":[{"type":"output_text","text":` + quote(text) + `,"annotations":[]}]}`
}

func responsesObject(status, output, usage string) string {
	return `{"id":"resp_1","object":"response","created_at":1700000000,"status":"` + status + `","error":null,"incomplete_details":null,` +
		`"instructions":"be kind to all people","model":"m-1","output":[` + output + `],"temperature":1.0,"usage":` + usage + `,"metadata":{}}`
}

const responsesUsage = `{"input_tokens":800,"output_tokens":100,"total_tokens":900}`

func responsesStream(deltas ...string) string {
	var b strings.Builder
	n := 0
	event := func(kind, members string) {
		b.WriteString(named(kind, fmt.Sprintf(`{"type":%q,"sequence_number":%d,%s}`, kind, n, members)))
		n++
	}
	part := `"item_id":"msg_1","output_index":0,"content_index":0,`
	text := strings.Join(deltas, "")
	event("response.created", `"response":`+responsesObject("in_progress", "", "null"))
	event("response.in_progress", `"response":`+responsesObject("in_progress", "", "null"))
	event("response.output_item.added", `"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`)
	event("response.content_part.added", part+`"part":{"type":"output_text","text":"","annotations":[]}`)
	for _, d := range deltas {
		event("response.output_text.delta", part+`"delta":`+quote(d)+`,"logprobs":[]`)
	}
	event("response.output_text.done", part+`"text":`+quote(text)+`,"logprobs":[]`)
	event("response.content_part.done", part+`"part":{"type":"output_text","text":`+quote(text)+`,"annotations":[]}`)
	event("response.output_item.done", `"output_index":0,"item":`+responsesItem("completed", text))
	event("response.completed", `"response":`+responsesObject("completed", responsesItem("completed", text), responsesUsage))
	return b.String()
}

// received is an event as a client parses it.
type received struct {
	name string
	data string
	json map[string]any
}

// parse reads a stream as a client does, and fails on anything that is not a valid stream.
func parse(t *testing.T, stream string) (events []received) {
	t.Helper()
	if stream != "" && !strings.HasSuffix(stream, "\n\n") {
		t.Fatalf("the stream ends inside an event: %q", stream[max(0, len(stream)-80):])
	}
	for block := range strings.SplitSeq(stream, "\n\n") {
		var e received
		for line := range strings.SplitSeq(block, "\n") {
			if v, ok := strings.CutPrefix(line, "data: "); ok {
				e.data += v
			}
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = v
			}
		}
		if e.data == "" {
			continue
		}
		if e.data != "[DONE]" {
			if err := json.Unmarshal([]byte(e.data), &e.json); err != nil {
				t.Fatalf("event %q: %v", e.data, err)
			}
		}
		events = append(events, e)
	}
	return events
}

// at returns the value at a path of member names and list indexes, or nil.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// textOf returns the text that a client assembles from the deltas.
func textOf(t *testing.T, surface llm.Endpoint, stream string) string {
	t.Helper()
	var b bytes.Buffer
	for _, e := range parse(t, stream) {
		var s any
		switch surface {
		case llm.ChatComplete:
			s = at(e.json, "choices", 0, "delta", "content")
		case llm.Complete:
			s = at(e.json, "choices", 0, "text")
		case llm.Messages:
			s = at(e.json, "delta", "text")
		case llm.CreateModelResponse:
			s = at(e.json, "delta")
		}
		if text, ok := s.(string); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}

// silent is a judge that passes everything. Its number is the window.
type silent int

func (s silent) Window() int { return int(s) }
func (silent) Hold() bool    { return false }

func (silent) Piece(context.Context, guardedstream.Piece) (v guardedstream.Verdict)  { return v }
func (silent) Finish(context.Context, *guardedstream.Answer) (f guardedstream.Final) { return f }
