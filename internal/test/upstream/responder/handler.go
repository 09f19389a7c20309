package responder

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// headTimeout ends TLS connections that send no head.
const headTimeout = 30 * time.Second

// ServeTLS is Serve over TLS through net/http, whose cost it has, with the
// protocols that conf offers: HTTP/2 and HTTP/1.1.
func (r *Responder) ServeTLS(ctx context.Context, ln net.Listener, conf *tls.Config) error {
	srv := &http.Server{Handler: r.Handler(), TLSConfig: conf, ReadHeaderTimeout: headTimeout}
	srv.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.count.connections.Add(1)
		}
	}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler answers the same through net/http.
func (r *Responder) Handler() http.Handler { return http.HandlerFunc(r.handle) }

func (r *Responder) handle(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxEcho))
	size := int64(len(body))
	if err == nil {
		var more int64
		more, err = io.Copy(io.Discard, req.Body)
		size += more
	}
	if err != nil {
		r.count.broken.Add(1)
		return
	}
	q := request{path: []byte(req.URL.Path), get: req.Method == http.MethodGet, contentType: []byte(req.Header.Get("Content-Type"))}
	k := q.kind(body)
	if k == stats {
		_ = json.NewEncoder(w).Encode(r.Stats()) // a caller that left needs no count
		return
	}
	time.Sleep(r.opts.Delay)
	last, sent, err := r.begin(w, &q, k, body, size)
	if err == nil {
		err = r.finish(w, last, counted{k, size, sent})
	}
	if err != nil {
		r.count.broken.Add(1)
	}
}

// begin sends an answer but for its end; sent counts that, too.
func (r *Responder) begin(w http.ResponseWriter, q *request, k kind, body []byte, size int64) (last []byte, sent int64, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("x-request-id", "req_bench")
	last = body
	switch k {
	case chat, message, converse, embeddings, transcription:
		last = r.made.fixed[k].body
	case stream, messageStream, converseStream:
		return r.beginStream(w, &r.made.stream[k], wantsUsage(body))
	default:
		w.Header().Set("Content-Type", string(q.contentType))
		if int64(len(body)) < size {
			w.Header().Set("Content-Type", "application/json")
			last = []byte(`{"bytes":` + strconv.FormatInt(size, 10) + `}`)
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(last)))
	return last, int64(len(last)), nil
}

func (r *Responder) beginStream(w http.ResponseWriter, s *streamed, usage bool) (last []byte, sent int64, err error) {
	w.Header().Set("Content-Type", s.contentType)
	rc := http.NewResponseController(w)
	first, event, last := unframed(s.first), unframed(s.event), unframed(s.last)
	if usage {
		last = unframed(s.usage)
	}
	if _, err := w.Write(first); err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	for i := range r.opts.Chunks {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * r.opts.Interval)))
		s.mark(event)
		if _, err := w.Write(event); err != nil {
			return nil, 0, err
		}
		if err := rc.Flush(); err != nil {
			return nil, 0, err
		}
	}
	return last, int64(len(first) + r.opts.Chunks*len(event) + len(last)), nil
}
