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
	seen := &Seen{Conn: id, Proto: r.Proto, Method: r.Method, Target: r.RequestURI, Host: r.Host, At: time.Now()}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			seen.Header = append(seen.Header, Field{strings.ToLower(name), v})
		}
	}
	h.s.seen.add(seen)
	reply := h.s.early(*seen)
	if reply == nil || !reply.Early {
		if err := h.s.takeBody(seen, r.Body); err != nil {
			h.s.seen.update(seen, func(x *Seen) { x.BodyErr, x.Cancelled = err, time.Now() })
			return
		}
		reply = h.s.answer(*seen)
	}
	if reply == nil { // a WebSocket: this server has none over HTTP/2
		reply = &Reply{Status: http.StatusNotImplemented}
	}
	h.finish(seen, h.write(w, r, *reply), reply)
}

// finish notes the outcome; an answer that was not to be whole ends in a reset of
// the stream.
func (h *http2Side) finish(seen *Seen, err error, r *Reply) {
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

func (h *http2Side) write(w http.ResponseWriter, r *http.Request, reply Reply) error {
	gone := r.Context().Done()
	if !h.s.sleep(reply.Wait, gone) {
		return errLeft
	}
	if reply.Raw != nil {
		return h.hold(reply, gone)
	}
	for _, status := range reply.Interim {
		w.WriteHeader(status)
	}
	for _, f := range reply.Header {
		w.Header().Add(f.Name, f.Value)
	}
	if reply.Framing == Length {
		w.Header().Set("Content-Length", strconv.FormatInt(max(reply.size(), reply.Claim), 10))
	}
	for _, f := range reply.Trailer {
		w.Header().Add(http.TrailerPrefix+f.Name, f.Value)
	}
	w.WriteHeader(reply.status())
	if err := h.pieces(w, r, reply.Pieces); err != nil {
		return err
	}
	return h.hold(reply, gone)
}

// hold waits for the caller to leave when the reply wants that.
func (h *http2Side) hold(reply Reply, gone <-chan struct{}) error {
	if reply.End != Hang {
		return nil
	}
	h.s.hold(gone)
	return errLeft
}

func (h *http2Side) pieces(w http.ResponseWriter, r *http.Request, pieces []Piece) error {
	rc := http.NewResponseController(w)
	if err := rc.Flush(); err != nil {
		return err
	}
	for _, p := range pieces {
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
