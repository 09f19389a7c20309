package partner_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/wire"
)

// services sends all requests to one test server, which sees the original address.
type services struct {
	server *httptest.Server
	aws    func(*check.AWSCredentials) // observes credentials; nil ignores them
}

// serve returns services whose requests the handler receives, with the original host.
func serve(t testing.TB, h http.HandlerFunc) *services {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &services{server: s}
}

// Call implements check.Services.
func (s *services) Call(ctx context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	if r.AWS != nil && s.aws != nil {
		s.aws(r.AWS)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, s.server.URL+u.RequestURI(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Host = u.Host
	req.Header.Set("X-Test-Scheme", u.Scheme)
	for _, f := range r.Header {
		req.Header.Add(f.Name, f.Value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	out := &check.ServiceResponse{Status: resp.StatusCode, Body: body}
	for name, list := range resp.Header {
		out.Header = append(out.Header, wire.Field{Name: name, Value: list[0]})
	}
	return out, nil
}
