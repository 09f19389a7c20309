package gateway

import (
	"bytes"
	"encoding/json"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// hookEvents are the events with the results of hooks in one stream, for callers without strict format.
// Official clients require of each event what their format always contains. So chunks have an empty list
// of choices and the members that all chunks of the stream share, and a response begins with
// response.created. The nil value has no events. It belongs to the goroutine that relays the stream.
// Source: contract/dataplane.md 5.5; the members for clients are ours.
type hookEvents struct {
	attempt *attempt
	surface llm.Endpoint
	chunk   []byte // members of the stream's chunks; nil for other formats
	before  []byte // results of the input hooks, to be inserted; nil for none
	last    []byte // results of the output hooks, to be numbered; nil for none
	first   firstEventScanner
}

// newHookEvents returns the events for the stream of an attempt that begins with the given bytes, or nil
// for callers with strict format.
func newHookEvents(a *attempt, begin []byte) *hookEvents {
	if a.strict {
		return nil
	}
	e := &hookEvents{attempt: a, surface: surfaceOf(a.x)}
	if e.surface == llm.ChatComplete || e.surface == llm.Complete {
		e.chunk = chunkMembers(dialect.FirstData(begin))
	}
	if a.results.Any() {
		e.before = e.render("before_request_hooks", a.results.ForClient(a.denied).Before)
	}
	return e
}

// chunkMembers returns an empty list of choices, and the members that all chunks of a stream share, as
// they are in its first chunk: ,"choices":[],"id":"chatcmpl-1",…
func chunkMembers(first []byte) []byte {
	members := []byte(`,"choices":[]`)
	for _, name := range []string{"id", "object", "created", "model"} {
		if value, ok := jsonedit.Find(first, name); ok && json.Valid(value) {
			members = append(append(append(append(members, `,"`...), name...), `":`...), value...)
		}
	}
	return members
}

// render returns the event with the results of one phase, in the format of the called API.
func (e *hookEvents) render(phase string, list []guardrails.Result) []byte {
	data, err := json.Marshal(map[string]any{"hook_results": map[string]any{phase: list}})
	if err != nil { // data of a check that JSON cannot represent
		return nil
	}
	event := append(hookEventHead(e.surface), data[1:len(data)-1]...)
	return append(append(event, e.chunk...), "}\n\n"...)
}

// hookEventHead returns the beginning of an event, up to its type. The helpers of official clients reject
// types that they do not have, so events have a type that clients skip.
func hookEventHead(surface llm.Endpoint) []byte {
	switch surface {
	case llm.Messages:
		return []byte("event: hook_results\ndata: {\"type\":\"ping\",")
	case llm.CreateModelResponse:
		return []byte("event: hook_results\ndata: {\"type\":\"keepalive\",")
	}
	return []byte("data: {")
}

// after returns the event that follows a stream that output hooks judged.
func (e *hookEvents) after(o *guardrails.Outcome) []byte {
	if e == nil || !e.attempt.results.Any() {
		return nil
	}
	results := guardrails.Results{After: o.Results}
	event := e.render("after_request_hooks", results.ForClient(e.attempt.denied).After)
	if e.surface == llm.CreateModelResponse {
		e.last = event
	}
	return event
}

// insertBefore inserts the event with the results of the input hooks into the first bytes of a stream,
// and reports whether they contained its position.
func (e *hookEvents) insertBefore(begin *[]byte) bool {
	if e == nil || e.before == nil {
		return true
	}
	*begin = e.insert(*begin)
	return e.before == nil
}

// insert inserts the event with the results of the input hooks into the next bytes for the client, once
// they contain its position, and numbers the events of Responses.
func (e *hookEvents) insert(p []byte) []byte {
	if e == nil {
		return p
	}
	if e.before != nil {
		if at := e.position(p); at >= 0 {
			p = slices.Concat(p[:at], e.numbered(e.before, p[:at]), p[at:])
			e.before = nil
		}
	}
	if e.last != nil {
		if at := bytes.LastIndex(p, e.last); at >= 0 {
			p = slices.Concat(p[:at], e.numbered(e.last, p[:at]), p[at+len(e.last):])
			e.last = nil
		}
	}
	return p
}

// position returns the position in p at which the event with the results of the input hooks belongs, or
// -1 if it is in later bytes.
func (e *hookEvents) position(p []byte) int {
	if e.surface != llm.CreateModelResponse {
		return 0
	}
	return e.first.end(p)
}

// numbered returns an event of Responses with the sequence number of the event before it, so that the
// numbers of the other events stay as they are. Events of other formats have no number.
func (e *hookEvents) numbered(event, previous []byte) []byte {
	if e.surface != llm.CreateModelResponse {
		return event
	}
	number := []byte("0")
	for line := range bytes.Lines(previous) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			if value, ok := jsonedit.Find(data, "sequence_number"); ok && json.Valid(value) {
				number = value
			}
		}
	}
	head := hookEventHead(e.surface)
	rest := event[len(head):]
	return slices.Concat(head, []byte(`"sequence_number":`), number, []byte(","), rest)
}

// firstEventScanner finds the end of the first event with data in a stream that arrives in parts.
type firstEventScanner struct {
	line []byte // the beginning of the current line, up to its colon
	data bool   // the current event has data
}

// end returns the position after the first event in the next part of the stream, or -1.
func (f *firstEventScanner) end(p []byte) int {
	const field = "data:"
	for i, c := range p {
		switch {
		case c == '\r':
		case c != '\n':
			if len(f.line) < len(field) {
				f.line = append(f.line, c)
			}
		case len(f.line) == 0 && f.data:
			return i + 1
		default:
			f.data = f.data || string(f.line) == field
			f.line = f.line[:0]
		}
	}
	return -1
}
