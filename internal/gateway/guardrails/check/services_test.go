package check_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/outbound"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
)

// outside returns the real way to external services. It may call servers on 127.0.0.1, and refuses other
// private addresses.
func outside(t testing.TB) *check.Deps {
	t.Helper()
	guard := netguard.New([]string{"127.0.0.1"})
	client := transport.New(transport.Options{Guard: guard})
	t.Cleanup(client.Close)
	return &check.Deps{Services: &outbound.Services{Client: client, URLs: netguard.NewURLCache(guard), UserAgent: "test"}}
}

// received is a request that a server received.
type received struct {
	method, path string
	header       http.Header
	body         []byte
}

// recorder starts a server that records requests and responds with a handler.
func recorder(t testing.TB, respond http.HandlerFunc) (url string, requests chan received) {
	t.Helper()
	requests = make(chan received, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		requests <- received{r.Method, r.URL.Path, r.Header, b}
		respond(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// static responds with a status and a body.
func static(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hanging sends the beginning of a body and then nothing, until the client leaves.
func hanging(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, `{"verdict":`)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// run compiles a check with services and runs it.
func run(t testing.TB, d *check.Deps, id, parameters string, in *check.Input) check.Result {
	t.Helper()
	return open(t, id, parameters, d).Run(context.Background(), in)
}
