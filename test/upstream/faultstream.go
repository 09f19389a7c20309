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
	"cut-stream": {does: "closes after @ events (2)", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		return ok.events(a.n, Cut)
	}},
	"cut-bytes": {does: "closes after @ bytes of the stream (100)", def: argument{n: 100}, make: func(ok Reply, a argument) Reply {
		return ok.first(a.n, Cut)
	}},
	"reset-stream": {does: "resets after @ events (2)", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		return ok.events(a.n, Reset)
	}},
	"stall": {does: "sends @ events (2), then nothing more", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		return ok.events(a.n, Hang)
	}},
	"end-early": {does: "ends the stream in order after @ events (2)", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		return ok.events(a.n, KeepAlive)
	}},
	"no-done": {does: "leaves out the last event, [DONE] of a chat", make: func(ok Reply, _ argument) Reply {
		return ok.events(len(ok.Pieces)-1, KeepAlive)
	}},
	"no-events": {does: "ends the stream without an event", make: func(ok Reply, _ argument) Reply {
		return ok.events(0, KeepAlive)
	}},
	"error-first": {does: "sends an error as the only event", make: func(ok Reply, _ argument) Reply {
		return ok.errorAt(0)
	}},
	"overloaded-first": {does: "sends Anthropic's overloaded_error as the only event", make: func(ok Reply, _ argument) Reply {
		ok = ok.events(0, KeepAlive)
		ok.Pieces = []Piece{{Bytes: []byte(overloadedEvent)}}
		return ok
	}},
	"error-mid": {does: "sends an error after @ events (2) and ends in order", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		return ok.errorAt(a.n)
	}},
	"garbage-event": {does: "sends a broken event after @ events (2), then goes on", def: argument{n: 2}, make: func(ok Reply, a argument) Reply {
		n := min(a.n, len(ok.Pieces))
		bad := Piece{Bytes: []byte("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\n\n")}
		ok.Pieces = append(append(append([]Piece{}, ok.Pieces[:n]...), bad), ok.Pieces[n:]...)
		return ok
	}},
	"slow-stream": {does: "waits @ (50ms) before each event", def: argument{d: 50 * time.Millisecond}, make: func(ok Reply, a argument) Reply {
		ok.Pieces = append([]Piece{}, ok.Pieces...)
		for i := range ok.Pieces {
			ok.Pieces[i].Wait = a.d
		}
		return ok
	}},
	"json-for-stream": {does: "answers JSON where a stream was asked for", make: func(Reply, argument) Reply {
		return JSON(200, map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "choices": []any{}})
	}},
	"sse-crlf": {does: "ends the stream's lines with CR LF", make: func(ok Reply, _ argument) Reply {
		return ok.each(func(e string) string { return strings.ReplaceAll(e, "\n", "\r\n") })
	}},
	"sse-comments": {does: "puts comments and pings between the events", make: func(ok Reply, _ argument) Reply {
		return ok.each(func(e string) string { return ": keep-alive\n\n" + e + "event: ping\ndata: {\"type\": \"ping\"}\n\n" })
	}},
	"sse-odd": {does: "adds id, retry and comment lines and drops the blank after data:", make: func(ok Reply, _ argument) Reply {
		return ok.each(func(e string) string { return ":\nid: 7\nretry: 3000\n" + strings.Replace(e, "data: ", "data:", 1) })
	}},
	"joined": {does: "sends all events in one write", make: func(ok Reply, _ argument) Reply {
		ok.Pieces = []Piece{{Bytes: ok.body()}}
		return ok
	}},
}

// events is the reply with its first n events and an end.
func (r Reply) events(n int, end End) Reply {
	r.Pieces, r.End = r.Pieces[:max(0, min(n, len(r.Pieces)))], end
	if r.Framing == Length && end != KeepAlive {
		r.Framing = UntilClose
	}
	return r
}

// errorAt is the reply with an error event of its endpoint's form in place of
// event n and all later ones.
func (r Reply) errorAt(n int) Reply {
	e := chatErrorEvent
	if len(r.Pieces) > 0 && bytes.HasPrefix(r.Pieces[0].Bytes, []byte("event:")) {
		e = fmt.Sprintf(responseErrorEvent, n)
	}
	r = r.events(n, KeepAlive)
	r.Pieces = append(append([]Piece{}, r.Pieces...), Piece{Bytes: []byte(e)})
	return r
}

// each is the reply with every event changed.
func (r Reply) each(change func(event string) string) Reply {
	pieces := make([]Piece, len(r.Pieces))
	for i, p := range r.Pieces {
		pieces[i] = Piece{Wait: p.Wait, Bytes: []byte(change(string(p.Bytes)))}
	}
	r.Pieces = pieces
	return r
}
