package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice/internal/gateway"
)

// A header that decides something is not read when it says two things, in one
// spelling or in two; said twice alike it is.
func TestHeadersTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	cases := []struct {
		name, value string
		status      int
	}{
		{"x-gateway-api-key", narrowKey, 400},
		{"x-acme-api-key", narrowKey, 400},
		{"x-acme-api-key", key, 200},
		{"x-gateway-provider", "groq", 400},
		{"x-gateway-custom-host", "http://127.0.0.1:1", 400},
		{"authorization", "Bearer sk-other", 400},
		{"content-type", "text/plain", 400},
		{"baggage", "b=2", 200},
		{"x-anything", "b", 200},
	}
	for _, c := range cases {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			req, err := http.NewRequest("POST", r.server.URL+"/v1/chat/completions", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range append(r.custom(), "x-gateway-api-key: "+key, "content-type: application/json", "baggage: a=1", "x-anything: a", c.name+": "+c.value) {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Add(name, value)
			}
			if a := r.do(req); a.StatusCode != c.status {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}
