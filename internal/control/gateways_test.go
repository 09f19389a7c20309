package control_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// gateways are the gateways that deployments are at: one that is well, one that is
// not, and nobody else.
type gateways struct{}

func (gateways) RoundTrip(r *http.Request) (*http.Response, error) {
	respond := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	switch r.URL.String() {
	case "https://gw.example.com/v1/health":
		return respond(200, `{"status":"ok","version":"1.2.3"}`)
	case "https://ill.example.com/v1/health":
		return respond(503, "no")
	}
	return nil, errors.New("10.0.0.7: connection refused")
}
