package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A header that is forwarded goes on as it came, with all its lines, on typed routes and
// where calls pass through.
func TestForwardedHeadersKeepTheirLines(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/threads/runs"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			req, err := http.NewRequest("POST", r.server.URL+path, strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range r.custom("x-gateway-api-key: "+key, "content-type: application/json", "x-gateway-forward-headers: X-Team, x-none, x-team") {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			req.Header["X-Team"] = []string{"red", "blue", "red"}
			if a := r.do(req); a.StatusCode >= 500 {
				t.Fatalf("%d %s", a.StatusCode, a.Text)
			}
			seen := r.up.Seen()[0]
			var got []string
			for _, f := range seen.Header {
				if strings.EqualFold(f.Name, "x-team") {
					got = append(got, f.Value)
				}
				if strings.EqualFold(f.Name, "x-none") {
					t.Errorf("made up: %v", f)
				}
			}
			if want := []string{"red", "blue", "red"}; !slices.Equal(got, want) {
				t.Errorf("forwarded %q, want %q", got, want)
			}
		})
	}
}
