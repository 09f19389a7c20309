package upstream

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// http2Side serves the connections that agreed on h2.
type http2Side struct{ s *Server }

// serve returns when the connection ends.
func (h *http2Side) serve(c *tls.Conn, id int) {
	ended := make(chan struct{})
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.one(w, r, id) }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(ended)
			}
		},
	}
	_ = srv.Serve(&single{Conn: c}) // the listener's end, as soon as c is taken
	<-ended
}

// single is a listener with one connection.
type single struct {
	net.Conn
	taken bool
}

// Accept gives the connection once.
func (l *single) Accept() (net.Conn, error) {
	if l.taken {
		return nil, net.ErrClosed
	}
	l.taken = true
	return l.Conn, nil
}

// Addr is the near end of the connection.
func (l *single) Addr() net.Addr { return l.LocalAddr() }

// Close leaves the connection to who took it.
func (l *single) Close() error { return nil }

func (h *http2Side) one(w http.ResponseWriter, r *http.Request, id int) {
	seen := &Seen{Conn: id, Proto: r.Proto, Method: r.Method, Target: r.RequestURI, Host: r.Host, Received: time.Now()}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			seen.Header = append(seen.Header, Field{strings.ToLower(name), v})
		}
	}
	h.s.seen.add(seen)
	response := h.s.early(*seen)
	if response == nil || !response.Early {
		if err := h.s.takeBody(seen, r.Body); err != nil {
			h.s.seen.update(seen, func(x *Seen) { x.BodyErr, x.Cancelled = err, time.Now() })
			return
		}
		response = h.s.respond(*seen)
	}
	if response == nil { // a WebSocket: this server has none over HTTP/2
		response = &Response{Status: http.StatusNotImplemented}
	}
	h.finish(seen, h.write(w, r, *response), response)
}

// finish notes the outcome; an answer that was not to be whole ends in a reset of
// the stream.
func (h *http2Side) finish(seen *Seen, err error, r *Response) {
	h.s.seen.update(seen, func(x *Seen) {
		if err != nil {
			x.Cancelled = time.Now()
			return
		}
		x.Answered = time.Now()
	})
	if err != nil || r.Raw != nil || r.End == Cut || r.End == Reset {
		panic(http.ErrAbortHandler)
	}
}

func (h *http2Side) write(w http.ResponseWriter, r *http.Request, response Response) error {
	gone := r.Context().Done()
	if !h.s.sleep(response.Wait, gone) {
		return errLeft
	}
	if response.Raw != nil {
		return h.hold(response, gone)
	}
	for _, status := range response.Interim {
		w.WriteHeader(status)
	}
	for _, f := range response.Header {
		w.Header().Add(f.Name, f.Value)
	}
	if response.Framing == Length {
		w.Header().Set("Content-Length", strconv.FormatInt(max(response.size(), response.Claim), 10))
	}
	for _, f := range response.Trailer {
		w.Header().Add(http.TrailerPrefix+f.Name, f.Value)
	}
	w.WriteHeader(response.status())
	if err := h.writeChunks(w, r, response.Chunks); err != nil {
		return err
	}
	return h.hold(response, gone)
}

// hold waits for the caller to leave when the reply wants that.
func (h *http2Side) hold(response Response, gone <-chan struct{}) error {
	if response.End != Hang {
		return nil
	}
	h.s.hold(gone)
	return errLeft
}

func (h *http2Side) writeChunks(w http.ResponseWriter, r *http.Request, chunks []Chunk) error {
	rc := http.NewResponseController(w)
	if err := rc.Flush(); err != nil {
		return err
	}
	for _, p := range chunks {
		for range p.times() {
			if !h.s.sleep(p.Wait, r.Context().Done()) {
				return errLeft
			}
			if _, err := w.Write(p.Bytes); err != nil {
				return err
			}
			if err := rc.Flush(); err != nil {
				return err
			}
		}
	}
	return context.Cause(r.Context())
}
