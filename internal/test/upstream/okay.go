package upstream

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

const echoPath = "/v1/echo"

// OK is the answer of a provider that works: the demo's, or below /v1/echo the
// request's own body under its own content type. Events of a stream are a piece
// each.
func (s *Server) OK(seen Seen) Response {
	var r Response
	switch {
	case strings.HasPrefix(seen.Path(), echoPath), strings.HasPrefix(seen.Path(), faultPath):
		r = Text(http.StatusOK, orElse(seen.Get("Content-Type"), "application/octet-stream"), string(seen.Body))
	case seen.demoResponse != nil:
		r = *seen.demoResponse
	default:
		r = s.ask(&seen, bytes.NewReader(seen.Body))
	}
	return r.with(Field{"x-request-id", fmt.Sprintf("req_upstream_%d", seen.ID)})
}

// ask puts the request to the demo.
func (s *Server) ask(seen *Seen, body io.Reader) Response {
	req, err := http.NewRequest(seen.Method, "http://"+orElse(seen.Host, s.Addr())+seen.Target, body)
	if err != nil {
		return OpenAIError(http.StatusBadRequest, "invalid_request_error", "bad_target", "the request target cannot be read")
	}
	for _, f := range seen.Header {
		req.Header.Add(f.Name, f.Value)
	}
	rec := httptest.NewRecorder()
	s.demo.ServeHTTP(rec, req)
	return s.recorded(rec)
}

func (s *Server) recorded(rec *httptest.ResponseRecorder) Response {
	r := Response{Status: rec.Code}
	for _, name := range slices.Sorted(maps.Keys(rec.Header())) {
		for _, v := range rec.Header()[name] {
			r.Header = append(r.Header, Field{name, v})
		}
	}
	if !r.streams() {
		r.Chunks = []Chunk{{Bytes: rec.Body.Bytes()}}
		return r
	}
	r.Framing = Chunked
	for _, e := range bytes.SplitAfter(rec.Body.Bytes(), []byte("\n\n")) {
		if len(e) > 0 {
			r.Chunks = append(r.Chunks, Chunk{Wait: s.opts.gap, Bytes: e})
		}
	}
	return r
}

func (s *Seen) wantsWebSocket() bool { return strings.EqualFold(s.Get("Upgrade"), "websocket") }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
