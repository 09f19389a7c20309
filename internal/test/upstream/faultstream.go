package upstream

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Events of a stream that report an error.
const (
	chatErrorEvent     = `data: {"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}` + "\n\n"
	responseErrorEvent = "event: error\n" + `data: {"type":"error","code":"server_error","message":"The server had an error while processing your request.","param":null,"sequence_number":%d}` + "\n\n"
	overloadedEvent    = "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"
)

// streamFaults spoil an event stream. Events are counted from the first.
var streamFaults = map[string]fault{
	"cut-stream": {does: "closes after @ events (2)", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		return ok.events(a.n, Cut)
	}},
	"cut-bytes": {does: "closes after @ bytes of the stream (100)", def: argument{n: 100}, make: func(ok Response, a argument) Response {
		return ok.first(a.n, Cut)
	}},
	"reset-stream": {does: "resets after @ events (2)", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		return ok.events(a.n, Reset)
	}},
	"stall": {does: "sends @ events (2), then nothing more", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		return ok.events(a.n, Hang)
	}},
	"end-early": {does: "ends the stream in order after @ events (2)", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		return ok.events(a.n, KeepAlive)
	}},
	"no-done": {does: "leaves out the last event, [DONE] of a chat", make: func(ok Response, _ argument) Response {
		return ok.events(len(ok.Chunks)-1, KeepAlive)
	}},
	"no-events": {does: "ends the stream without an event", make: func(ok Response, _ argument) Response {
		return ok.events(0, KeepAlive)
	}},
	"error-first": {does: "sends an error as the only event", make: func(ok Response, _ argument) Response {
		return ok.errorAt(0)
	}},
	"overloaded-first": {does: "sends Anthropic's overloaded_error as the only event", make: func(ok Response, _ argument) Response {
		ok = ok.events(0, KeepAlive)
		ok.Chunks = []Chunk{{Bytes: []byte(overloadedEvent)}}
		return ok
	}},
	"error-mid": {does: "sends an error after @ events (2) and ends in order", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		return ok.errorAt(a.n)
	}},
	"garbage-event": {does: "sends a broken event after @ events (2), then goes on", def: argument{n: 2}, make: func(ok Response, a argument) Response {
		n := min(a.n, len(ok.Chunks))
		bad := Chunk{Bytes: []byte("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\n\n")}
		ok.Chunks = append(append(append([]Chunk{}, ok.Chunks[:n]...), bad), ok.Chunks[n:]...)
		return ok
	}},
	"slow-stream": {does: "waits @ (50ms) before each event", def: argument{d: 50 * time.Millisecond}, make: func(ok Response, a argument) Response {
		ok.Chunks = append([]Chunk{}, ok.Chunks...)
		for i := range ok.Chunks {
			ok.Chunks[i].Wait = a.d
		}
		return ok
	}},
	"json-for-stream": {does: "answers JSON where a stream was asked for", make: func(Response, argument) Response {
		return JSON(200, map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "choices": []any{}})
	}},
	"sse-crlf": {does: "ends the stream's lines with CR LF", make: func(ok Response, _ argument) Response {
		return ok.each(func(e string) string { return strings.ReplaceAll(e, "\n", "\r\n") })
	}},
	"sse-comments": {does: "puts comments and pings between the events", make: func(ok Response, _ argument) Response {
		return ok.each(func(e string) string { return ": keep-alive\n\n" + e + "event: ping\ndata: {\"type\": \"ping\"}\n\n" })
	}},
	"sse-odd": {does: "adds id, retry and comment lines and drops the blank after data:", make: func(ok Response, _ argument) Response {
		return ok.each(func(e string) string { return ":\nid: 7\nretry: 3000\n" + strings.Replace(e, "data: ", "data:", 1) })
	}},
	"joined": {does: "sends all events in one write", make: func(ok Response, _ argument) Response {
		ok.Chunks = []Chunk{{Bytes: ok.body()}}
		return ok
	}},
}

// events is the reply with its first n events and an end.
func (r Response) events(n int, end End) Response {
	r.Chunks, r.End = r.Chunks[:max(0, min(n, len(r.Chunks)))], end
	if r.Framing == Length && end != KeepAlive {
		r.Framing = UntilClose
	}
	return r
}

// errorAt is the reply with an error event of its endpoint's form in place of
// event n and all later ones.
func (r Response) errorAt(n int) Response {
	e := chatErrorEvent
	if len(r.Chunks) > 0 && bytes.HasPrefix(r.Chunks[0].Bytes, []byte("event:")) {
		e = fmt.Sprintf(responseErrorEvent, n)
	}
	r = r.events(n, KeepAlive)
	r.Chunks = append(append([]Chunk{}, r.Chunks...), Chunk{Bytes: []byte(e)})
	return r
}

// each is the reply with every event changed.
func (r Response) each(change func(event string) string) Response {
	chunks := make([]Chunk, len(r.Chunks))
	for i, p := range r.Chunks {
		chunks[i] = Chunk{Wait: p.Wait, Bytes: []byte(change(string(p.Bytes)))}
	}
	r.Chunks = chunks
	return r
}
