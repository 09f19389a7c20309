package gateway_test

import (
	"testing"

	"sluice/internal/test/upstream"
)

// Whoever asks a provider for a model by the name that the list gave gets it from the provider
// that the name names, by the name that it has there.
func TestModelByItsSlug(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, target string }{
		{"@some/gpt-4o", "/v1/models/gpt-4o"},
		{"%40some%2Fgpt-4o", "/v1/models/gpt-4o"},
		{"@some/meta/llama", "/v1/models/meta/llama"},
		{"%40some%2Fmeta%2Fllama", "/v1/models/meta%2Fllama"},
		{"gpt-4o", "/v1/models/gpt-4o"},
	} {
		for _, by := range []string{"x-gateway-provider: @some", `x-gateway-config: {"provider":"@some"}`} {
			r := newRig(t)
			r.saved("some", "openai", "/v1")
			r.up.Handle(c.target, upstream.Always(upstream.JSON(200, []byte(`{"id":"m","object":"model"}`))))
			a := r.call("GET", "/v1/models/"+c.id, "", by)
			if a.StatusCode != 200 || r.up.Total() != 1 || r.up.Seen()[0].Target != c.target {
				t.Errorf("%s, %s: %d %s; sent %+v", c.id, by, a.StatusCode, a.Text, r.up.Seen())
			}
		}
	}
}
