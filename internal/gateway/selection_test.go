package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

func TestSelection(t *testing.T) {
	t.Parallel()
	aliases := []string{"x-acme-"}
	provider, routing, passthrough := gateway.Selection{Provider: true}, gateway.Selection{Routing: true}, gateway.Selection{Passthrough: true}
	for line, want := range map[string]gateway.Selection{
		"x-gateway-provider: @x":        provider,
		"x-gateway-virtual-key: x":      provider,
		"x-acme-provider: openai":       provider,
		"x-gateway-config: pc-x":        routing,
		"x-acme-custom-host: https://h": routing,
		"x-gateway-passthrough: true":   passthrough,
		"x-gateway-passthrough:  TRUE ": passthrough,
		"x-acme-passthrough: true":      passthrough,
		"x-gateway-passthrough: false":  {},
		"x-gateway-passthrough: 1":      {},
		"x-gateway-provider: ":          {},
		"x-other-provider: x":           {},
		"x-gateway-provider-x: x":       {},
		"passthrough: true":             {},
		"authorization: Bearer x":       {},
	} {
		name, value, _ := strings.Cut(line, ": ")
		var s gateway.Selection
		if s.Note(name, value, aliases); s != want || s.Any() != (want != gateway.Selection{}) {
			t.Errorf("%q: %+v, want %+v", line, s, want)
		}
	}
}

// The header that sends a request to its provider does not travel there, nor can it be
// forwarded; with two values it is refused.
func TestPassthroughHeaderStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.HeaderAliases = []string{"x-acme-"} })
	for _, path := range []string{"/v1/logs", "/v1/virtual-keys"} {
		r.up.Handle(path, upstream.Always(upstream.JSON(200, map[string]any{})))
	}
	for _, lines := range [][]string{
		{"x-gateway-passthrough: true"},
		{"x-acme-passthrough: true"},
		{"x-acme-passthrough: true", "x-gateway-forward-headers: x-acme-passthrough"},
		{"x-gateway-passthrough: true", `x-gateway-config: {"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","forward_headers":["x-acme-passthrough"]}`},
	} {
		for _, path := range []string{"/v1/logs", "/v1/virtual-keys", "/v1/chat/completions"} {
			if a := r.call("POST", path, hello, r.custom(lines...)...); a.StatusCode != 200 {
				t.Errorf("%q: %d %s", lines, a.StatusCode, a.Text)
			}
		}
	}
	seen := r.up.Seen()
	if len(seen) != 12 {
		t.Errorf("%d calls went out", len(seen))
	}
	for _, s := range seen {
		for _, f := range s.Header {
			if strings.Contains(strings.ToLower(f.Name), "passthrough") {
				t.Errorf("sent %s", f.Name)
			}
		}
	}
	for _, line := range []string{"x-gateway-forward-headers: x-gateway-passthrough", `x-gateway-config: {"provider":"openai","api_key":"k","forward_headers":["X-Gateway-Passthrough"]}`} {
		if a := r.call("POST", "/v1/logs", hello, r.custom(line)...); a.StatusCode != 400 || !strings.Contains(a.Text, "must not be forwarded") {
			t.Errorf("%s: %d %s", line, a.StatusCode, a.Text)
		}
	}
	if a := r.call("POST", "/v1/logs", hello, r.custom("x-gateway-passthrough: true", "x-acme-passthrough: false")...); a.StatusCode != 400 || !strings.Contains(a.Text, "twice") {
		t.Errorf("two values: %d %s", a.StatusCode, a.Text)
	}
}

// An unknown path that is called with an Admin key is a mistyped route of the administration;
// what is known to belong to a provider is refused as model traffic.
func TestUnknownPathsOfAnAdminKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	named := []string{"x-gateway-api-key: " + adminKey, "x-gateway-provider: @x"}
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"POST", "/v1/wrokspaces", named[:1], 404},
		{"GET", "/v1/anything/at/all", named[:1], 404},
		{"GET", "/v1/anything/at/all", named, 404},
		{"PUT", "/v1/anything", append(named, "x-gateway-config: pc-x"), 404},
		{"GET", "/v1/collections", named, 403},
		{"GET", "/v1/collections/a/points", named, 403},
		{"GET", "/v1/collectionsx", named, 404},
		{"GET", "/v1/anything", append(named, "x-gateway-passthrough: true"), 403},
		{"POST", "/v1/chat/completions", named, 403},
		{"POST", "/v1beta/models/gemini-2.5-flash:generateContent", named, 403},
		{"POST", "/v1/proxy/anything", named, 403},
		{"GET", "/v1/anything", []string{"x-gateway-api-key: " + narrowKey, "x-gateway-provider: openai"}, 403},
	} {
		a := r.call(c.method, c.path, "", c.headers...)
		if admin := strings.Contains(a.Text, `"errorCode":"AB08"`); a.StatusCode != c.status || admin != (c.status == 404) {
			t.Errorf("%s %s %q: %d %s", c.method, c.path, c.headers, a.StatusCode, a.Text)
		}
	}
	if n := r.up.Total(); n != 0 {
		t.Errorf("%d calls went out", n)
	}
}
