package demo

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// events writes a server-sent event stream. After its first error the methods do nothing, so that
// a script need not check each line. It belongs to the goroutine of its handler.
type events struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	gone <-chan struct{} // closed when the client disconnects
	gap  time.Duration
	seq  int // number of the next typed event, see typed
	err  error
}

var errGone = errors.New("the client disconnected")

// stream sends the head of an event stream.
func (rt *serverState) stream(w http.ResponseWriter, r *http.Request) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &events{w: w, rc: http.NewResponseController(w), gone: r.Context().Done(), gap: rt.gap}
}

// data sends v as an event without a name.
func (e *events) data(v any) { e.send("", v) }

// typed sends an event in the form of the responses stream: its type in the event line and in the
// data, and a sequence number.
func (e *events) typed(kind string, members map[string]any) {
	members["type"] = kind
	members["sequence_number"] = e.seq
	e.seq++
	e.send(kind, members)
}

// done sends the marker that ends a chat or completions stream.
func (e *events) done() { e.raw([]byte("data: [DONE]\n\n")) }

func (e *events) send(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return
	}
	line := make([]byte, 0, len(b)+len(name)+16)
	if name != "" {
		line = append(append(append(line, "event: "...), name...), '\n')
	}
	line = append(append(append(line, "data: "...), b...), "\n\n"...)
	e.raw(line)
}

// raw waits for the gap, then sends one complete event.
func (e *events) raw(b []byte) {
	if e.err != nil || !e.pause() {
		return
	}
	if _, e.err = e.w.Write(b); e.err == nil {
		e.err = e.rc.Flush()
	}
}

func (e *events) pause() bool {
	if e.gap <= 0 {
		return true
	}
	t := time.NewTimer(e.gap)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-e.gone:
		e.err = errGone
		return false
	}
}
