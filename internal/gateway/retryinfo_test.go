package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// The delay that Google names in an error is what clients find in Retry-After.
func TestRetryInfoBecomesRetryAfter(t *testing.T) {
	t.Parallel()
	const quota = `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"DELAY"}]}}`
	for name, c := range map[string]struct{ body, retryAfter, want string }{
		"a delay":          {strings.Replace(quota, "DELAY", "34.074824224s", 1), "", "35"},
		"in a list":        {"[" + strings.Replace(quota, "DELAY", "2s", 1) + "]", "", "2"},
		"the header's own": {strings.Replace(quota, "DELAY", "34s", 1), "7", "7"},
		"none":             {`{"error":{"code":429,"message":"m"}}`, "", ""},
		"one of nothing":   {strings.Replace(quota, "DELAY", "0s", 1), "", ""},
		"one of words":     {strings.Replace(quota, "DELAY", "soon", 1), "", ""},
		"one that is long": {strings.Replace(quota, "DELAY", "1e300s", 1), "", ""},
	} {
		for _, id := range []string{"google", "openai"} {
			r := newRig(t)
			response := upstream.JSON(429, []byte(c.body))
			if c.retryAfter != "" {
				response.Header = append(response.Header, upstream.Field{Name: "Retry-After", Value: c.retryAfter})
			}
			r.up.Script(upstream.Always(response))
			a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: "+id, "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL()+"/v1beta")
			want := c.want
			if id != "google" {
				want = c.retryAfter
			}
			if got := a.Header.Get("retry-after"); a.StatusCode != 429 || got != want {
				t.Errorf("%s at %s: %d, retry after %q, want %q: %s", name, id, a.StatusCode, got, want, a.Text)
			}
			if id == "google" && name == "a delay" && !strings.Contains(a.Text, "You exceeded your current quota") {
				t.Errorf("the error is lost: %s", a.Text)
			}
		}
	}
}
