package e2e

import (
	"strings"
	"testing"

	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/test/upstream"
)

// What is kept of a call is the same with rows and bodies in files as with rows in
// ClickHouse and bodies in a bucket: secrets are masked, and where the caller, or the
// organisation, wants figures alone, no body and no header is there to be shown or found.
func TestWhatIsKeptInEitherStore(t *testing.T) {
	t.Parallel()
	for name, storage := range map[string]func(*testing.T) option{
		"files": func(*testing.T) option { return with() },
		"servers": func(t *testing.T) option {
			server := clickhousetest.Start(t)
			bucket, _ := objectStore(t)
			rows := with("ANALYTICS_STORE_URL="+server.URL, "ANALYTICS_STORE_USER="+clickhousetest.User, "ANALYTICS_STORE_PASSWORD="+clickhousetest.Password)
			return func(l *launch) { rows(l); bucket(l) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, up := start(t, storage(t)), upstream.Start(t)
			shown := func(headers ...string) callResult {
				t.Helper()
				id := g.chat(append(custom(up), headers...)...).Header.Get("x-gateway-request-id")
				var a callResult
				eventually(t, logLimit, "the call is in the log", func() bool { a = g.call("GET", "/v1/logs/"+id, ""); return a.Status == 200 })
				return a
			}
			bare := func(what string, a callResult) {
				t.Helper()
				for _, path := range []string{"request.body", "request.headers", "response.body", "response.headers", "transformedRequest.body", "originalResponse.body", "finalUntransformedRequest.body"} {
					if v := a.get(path); v.Exists() && v.Raw != "{}" {
						t.Errorf("%s: %s is %s", what, path, v.Raw)
					}
				}
				if a.get("metrics.total_units").Int() == 0 {
					t.Errorf("%s: there are no figures: %s", what, a.get("metrics"))
				}
			}

			full := shown("cookie: s3cr3t", "x-tenant: acme", "x-gateway-sensitive-headers: x-tenant")
			if got := full.get("request.headers.cookie").String() + full.get("request.headers.x-tenant").String(); got != "******" || full.get("request.body.messages.0.content").String() != "Hello there" {
				t.Errorf("the log is %s", full.Body)
			}
			bare("x-gateway-debug: false", shown("x-gateway-debug: false"))

			g.do(adminKey, "PUT", "/v1/organisations/self", object{"settings": object{"debug_log": 0}})
			bare("an organisation that wants figures alone", shown())
			if a := shown("x-gateway-debug: true"); a.get("request.body.messages.0.content").String() != "Hello there" {
				t.Errorf("a caller who wants bodies where figures are usual: %s", a.Body)
			}
			g.do(adminKey, "PUT", "/v1/organisations/self", object{"settings": object{"debug_log_enforced": 1}})
			bare("an organisation that insists", shown("x-gateway-debug: true"))

			if found := g.search("Hello"); len(found) != 2 {
				t.Errorf("the search finds %d logs, want the two whose bodies are kept", len(found))
			}
			if found := g.call("GET", "/v1/logs", "").want(t, 200); found.get("total").Int() != 5 {
				t.Errorf("the log has %d entries, want 5", found.get("total").Int())
			}
		})
	}
}

// As much of a body is kept as the deployment asks for, also where that is more than records
// have as a rule.
func TestLongBodiesAreKeptAsLongAsTheyMayBe(t *testing.T) {
	t.Parallel()
	const size = 3 << 20 // and heard
	g, up := start(t, with("LOG_BODY_MAX_KB=4096")), upstream.Start(t)
	body := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"` + strings.Repeat("a", size) + `"}]}`
	id := g.call("POST", "/v1/chat/completions", body, custom(up)...).want(t, 200).Header.Get("x-gateway-request-id")
	a := g.awaitLog(id)
	for _, path := range []string{"request.body.messages.0.content", "response.body.choices.0.message.content"} {
		if length := len(a.get(path).String()); length < size {
			t.Errorf("%s has %d bytes, want %d at least", path, length, size)
		}
	}
}
