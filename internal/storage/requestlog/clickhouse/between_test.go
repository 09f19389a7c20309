package clickhouse_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"sluice/internal/storage/requestlog/clickhousetest"
)

// between puts a handler before the server that the tests share, which it gets as pass, and
// returns the server with the handler's address too.
func between(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, pass http.Handler)) (server *clickhousetest.Server, address string) {
	t.Helper()
	server = clickhousetest.Shared(t)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, pass) }))
	t.Cleanup(front.Close)
	return server, front.URL
}
