package e2e

import (
	"net/http"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// Client libraries send the headers of their provider with every call. Calls of the
// administration stay in the gateway all the same: what they hold is often secret.
func TestAdministrationCallsNeverLeave(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	for _, path := range []string{"/v1/collections/x/points", "/v1/logs", "/v1/virtual-keys/x"} {
		up.Handle(path, upstream.Always(upstream.JSON(200, map[string]any{})))
	}
	g := start(t, with("HEADER_PREFIX_ALIASES=x-acme-"))
	g.saveProvider("main", up)
	config := g.saveConfig("main", `{"provider":"@main"}`)
	const secret = "sk-secret-of-a-new-virtual-key"
	selecting := [][]string{
		{"x-gateway-provider: @main"},
		{"x-gateway-virtual-key: main"},
		{"x-acme-provider: @main"},
		{"x-gateway-config: " + config},
		{`x-gateway-config: {"provider":"@main"}`},
		{"x-gateway-provider: openai", "x-gateway-custom-host: " + up.URL() + "/v1", "authorization: Bearer sk-mine"},
	}
	for _, headers := range selecting {
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"POST", "/v1/virtual-keys", `{"name":"a","provider":"nobody","key":"` + secret + `"}`, 400},
			{"POST", "/v1/virtual-keys/", `{"name":"a","provider":"nobody","key":"` + secret + `"}`, 400},
			{"POST", "/v2/virtual-keys", `{"name":"a","provider":"nobody","key":"` + secret + `"}`, 400},
			{"POST", "/v1/virtual_keyz", `{"key":"` + secret + `"}`, 0},
			{"PATCH", "/v1/virtual-keys/main", `{"key":"` + secret + `"}`, 405},
			{"POST", "/v1/virtual-keys%2Fmain", `{"key":"` + secret + `"}`, 404},
			{"POST", "/v1/Virtual-Keys", `{"key":"` + secret + `"}`, 404},
			{"POST", "/v1//virtual-keys", `{"key":"` + secret + `"}`, 404},
			{"POST", "/virtual-keys", `{"key":"` + secret + `"}`, 404},
			{"POST", "/v1/v1/virtual-keys", `{"key":"` + secret + `"}`, 404},
			{"GET", "/v1/prompts", "", 200},
			{"GET", "/v1/logs", "", 200},
			{"GET", "/v1/configs", "", 200},
			{"POST", "/v1/feedback", `{"trace_id":"t","value":1}`, 200},
		} {
			if named := !strings.Contains(headers[0], "config"); named && c.status == 0 {
				continue // another path, with a provider named: the provider's
			}
			a := g.call(c.method, c.path, c.body, headers...)
			if want := c.status; a.Status != want && (want != 0 || a.Status != 404) {
				t.Errorf("%s %s %q: %d %s", c.method, c.path, headers, a.Status, a.Body)
			}
			if a.Status == 405 && a.Header.Get("Allow") == "" || a.Status == 404 && a.get("data.errorCode").String() != "AB08" {
				t.Errorf("%s %s %q: %v %s", c.method, c.path, headers, a.Header, a.Body)
			}
		}
	}
	if n := up.Total(); n != 0 {
		t.Errorf("%d calls came to the provider", n)
	}

	g.call("GET", "/v1/collections", "", "x-gateway-config: "+config).want(t, 200)
	if up.Total() != 0 {
		t.Error("a config took /collections to the provider")
	}
	g.call("PUT", "/v1/collections/x/points", `{}`, "x-gateway-provider: @main").want(t, 200)
	g.call("POST", "/v1/logs", `{}`, "x-gateway-provider: @main", "x-acme-passthrough: true").want(t, 200)
	g.call("PATCH", "/v1/virtual-keys/x", `{}`, "x-gateway-config: "+config, "x-gateway-passthrough: true").want(t, 200)
	seen := up.Seen()
	for i, want := range []string{"/v1/collections/x/points", "/v1/logs", "/v1/virtual-keys/x"} {
		if i >= len(seen) || seen[i].Target != want {
			t.Fatalf("%d calls came to the provider, want %s", len(seen), want)
		}
		for _, f := range seen[i].Header {
			if strings.Contains(strings.ToLower(f.Name), "passthrough") {
				t.Errorf("sent %s", f.Name)
			}
		}
	}
	a := g.call("GET", "/v1/anything", "", "x-gateway-api-key: "+adminKey, "x-gateway-provider: @main")
	if a.Status != http.StatusNotFound || a.get("data.errorCode").String() != "AB08" {
		t.Errorf("an unknown path with an Admin key: %d %s", a.Status, a.Body)
	}
}

// A host that may be dialled gets no stored credential, unless the operator lists it for
// those as well.
func TestTrustedHostsGetNoStoredKey(t *testing.T) {
	t.Parallel()
	up, other := upstream.Start(t), upstream.Start(t)
	listed := strings.TrimPrefix(other.URL(), "http://")
	for name, c := range map[string]struct {
		settings string
		status   int
	}{
		"trusted": {"STORED_KEY_HOSTS=", 400},
		"listed":  {"STORED_KEY_HOSTS=" + listed, 200},
	} {
		before := other.Total()
		g := start(t, with(c.settings))
		g.saveProvider("main", up)
		a := g.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: @main", "x-gateway-custom-host: "+other.URL()+"/v1")
		if a.Status != c.status || a.Status == 400 && (!strings.Contains(a.Body, "STORED_KEY_HOSTS") || !strings.Contains(a.Body, "x-gateway-custom-host")) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if got := other.Total() - before; (got != 0) != (c.status == 200) {
			t.Errorf("%s: %d calls came to the other host", name, got)
		}
		g.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai", "authorization: Bearer sk-mine", "x-gateway-custom-host: "+other.URL()+"/v1").want(t, 200)
	}
}
