package gateway_test

import (
	"net/http/httptest"
	"testing"

	"sluice/internal/gateway/nethttp"
	"sluice/internal/test/upstream"
)

// Bodies of all methods are passed on as they come, those of GET and DELETE too, over both
// fronts; and no provider speaks for the gateway's host.
func TestBodiesOfAllMethods(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Script(func(upstream.Seen) *upstream.Response {
		response := upstream.JSON(200, map[string]any{"ok": true})
		response.Header = append(response.Header, upstream.Field{Name: "Set-Cookie", Value: "session=theirs"}, upstream.Field{Name: "Alt-Svc", Value: `h3=":443"; ma=86400`},
			upstream.Field{Name: "Strict-Transport-Security", Value: "max-age=31536000; includeSubDomains; preload"}, upstream.Field{Name: "Openai-Version", Value: "2020-10-01"})
		return &response
	})
	slow := httptest.NewServer(nethttp.New(r.gateway))
	t.Cleanup(slow.Close)
	for _, body := range []struct{ name, kind, text string }{
		{"JSON", "application/json", "{\"b\" : 1,\n \"a\":  [ ] }"},
		{"bytes", "application/octet-stream", "\x00\xff\r\n\r\nGET /"},
	} {
		for _, base := range []string{r.server.URL, slow.URL} {
			for _, method := range []string{"GET", "DELETE", "PUT", "POST"} {
				before := r.up.Total()
				a := r.callAt(base, method, "/v1/indexes/a%2Fb", body.text, r.custom("content-type: "+body.kind)...)
				seen := r.up.Seen()[before]
				if a.StatusCode != 200 || seen.Method != method || string(seen.Body) != body.text || seen.Get("content-type") != body.kind || seen.Target != "/v1/indexes/a%2Fb" {
					t.Errorf("%s with %s: %d, %s %s %q %q", method, body.name, a.StatusCode, seen.Method, seen.Target, seen.Get("content-type"), seen.Body)
				}
				for _, theirs := range []string{"Set-Cookie", "Alt-Svc", "Strict-Transport-Security"} {
					if got := a.Header.Get(theirs); got != "" {
						t.Errorf("%s: %s: %s", method, theirs, got)
					}
				}
				if a.Header.Get("Openai-Version") == "" {
					t.Errorf("%s: a plain line of the provider is gone", method)
				}
			}
		}
	}
}
