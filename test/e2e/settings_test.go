package e2e

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// Settings of the deployment reach the part that they are about.
func TestSettingsAreObeyed(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	chat := func(g *gateway, model string, headers ...string) callResult {
		return g.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", model, 1), headers...)
	}
	cases := []struct {
		name    string
		setting string
		check   func(t *testing.T, g *gateway)
	}{
		{"header names of another gateway", "HEADER_PREFIX_ALIASES=x-acme-", func(t *testing.T, g *gateway) {
			a := chat(g, "gpt-4o", "x-gateway-api-key", "x-acme-api-key: "+workspaceKey, "x-acme-provider: openai", "authorization: Bearer sk-up",
				"x-acme-custom-host: "+up.URL()+"/v1", "x-acme-trace-id: trace-of-acme").want(t, 200)
			if a.Header.Get("x-acme-trace-id") != "trace-of-acme" || a.Header.Get("x-gateway-trace-id") != "trace-of-acme" {
				t.Errorf("answer: %v", a.Header)
			}
		}},
		{"saved configs only", "BLOCK_INLINE_CONFIG=ON", func(t *testing.T, g *gateway) {
			if a := chat(g, "gpt-4o", custom(up)...).want(t, 400); !strings.HasPrefix(a.get("error.code").String(), "inline_") {
				t.Errorf("answer: %s", a.Body)
			}
			g.saveProvider("main", up)
			chat(g, "@main/gpt-4o").want(t, 200)
		}},
		{"no private addresses", "TRUSTED_CUSTOM_HOSTS=", func(t *testing.T, g *gateway) {
			before := up.Total()
			chat(g, "gpt-4o", custom(up)...).want(t, 400)
			if up.Total() != before {
				t.Error("it was called all the same")
			}
		}},
		{"patience with a provider", "REQUEST_TIMEOUT=200ms", func(t *testing.T, g *gateway) {
			if a := chat(g, "fault:slow-head@5s", custom(up)...).want(t, 408); a.get("error.type").String() != "timeout_error" {
				t.Errorf("answer: %s", a.Body)
			}
		}},
		{"patience with a stream", "STREAM_IDLE_TIMEOUT=1s", func(t *testing.T, g *gateway) {
			body := strings.Replace(hello, `{"model":"gpt-4o-mini"`, `{"stream":true,"model":"fault:stall@3"`, 1)
			a := g.try("POST", "/v1/chat/completions", body, custom(up)...)
			if !strings.Contains(a.Body, `data: {"error"`) || strings.Contains(a.Body, "[DONE]") {
				t.Errorf("%s, %v", a.Body, a.Err)
			}
		}},
		{"headers that stay here", "CUSTOM_HEADERS_TO_IGNORE=x-internal", func(t *testing.T, g *gateway) {
			g.call("POST", "/v1/echo/ignore", `{}`, append(custom(up), "x-internal: 1", "x-external: 2")...).want(t, 200)
			seen := up.Await(t, "the call", func(s []upstream.Seen) bool { return find(s, "/v1/echo/ignore") != nil })
			if s := find(seen, "/v1/echo/ignore"); s.Has("x-internal") || !s.Has("x-external") {
				t.Errorf("the provider got\n%s", s.Head)
			}
		}},
		{"headers into metadata", "HEADERS_TO_METADATA=x-team", func(t *testing.T, g *gateway) {
			a := chat(g, "gpt-4o", append(custom(up), "x-team: search")...).want(t, 200)
			if log := g.awaitLog(a.Header.Get("x-gateway-request-id")); !strings.Contains(log.Body, "x-team") || !strings.Contains(log.Body, "search") {
				t.Errorf("log: %s", log.Body)
			}
		}},
		{"people behind one key", "HEADERS_TO_METADATA=X-OpenWebUI-User-Email:_user", func(t *testing.T, g *gateway) {
			a := chat(g, "gpt-4o", append(custom(up), "x-openwebui-user-email: ann@example.com")...).want(t, 200)
			if log := g.awaitLog(a.Header.Get("x-gateway-request-id")); !strings.Contains(log.Body, `"_user":"ann@example.com"`) {
				t.Errorf("log: %s", log.Body)
			}
		}},
		{"few targets", "MAX_ROOT_CONFIG_TARGETS=1", func(t *testing.T, g *gateway) {
			chat(g, "gpt-4o", `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"a"},{"provider":"openai","api_key":"b"}]}`).want(t, 400)
		}},
		{"no administration", "API_ACCESS_ENABLED=OFF", func(t *testing.T, g *gateway) {
			g.call("GET", "/v1/configs", "").want(t, 403)
			chat(g, "gpt-4o", custom(up)...).want(t, 200)
		}},
		{"no policies", "POLICY_ENABLED=OFF", func(t *testing.T, g *gateway) {
			g.call("GET", "/v1/policies/rate-limits", "").want(t, 403)
		}},
		{"a prefix of keys", "API_KEY_PREFIX=acme-", func(t *testing.T, g *gateway) {
			made := g.do(workspaceKey, "POST", "/v1/api-keys/workspace/service", object{"name": "ci", "scopes": []string{"completions.write"}})
			if key := made.get("key").String(); !strings.HasPrefix(key, "acme-") {
				t.Errorf("the key begins otherwise: %.5s…", key)
			}
		}},
		{"no figures", "ENABLE_PROMETHEUS=OFF", func(t *testing.T, g *gateway) {
			g.call("GET", "/metrics", "").want(t, 404)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, start(t, with(c.setting)))
		})
	}
}

// find is the last request of a path, nil when there is none.
func find(seen []upstream.Seen, path string) *upstream.Seen {
	for i := len(seen) - 1; i >= 0; i-- {
		if seen[i].Path() == path {
			return &seen[i]
		}
	}
	return nil
}
