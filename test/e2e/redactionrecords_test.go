package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"sluice/internal/test/upstream"
)

// A redacted value is in no record of the call: neither in the log nor in its hooks, exports, cache and
// files, nor in the debug output. The provider received the redacted text.
func TestRedactedValuesAreRecordedNowhere(t *testing.T) {
	t.Parallel()
	const mail = "ann.secret@example.com"
	for name, redact := range map[string]any{"for good": true, "reversibly": "reversible"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			g := start(t, with("LOG_LEVEL=debug", "RESPONSE_CACHE_STORE=disk"))
			config := jsonText(object{"cache": object{"mode": "simple"}, "input_guardrails": []object{
				{"id": "hide", "gateway.pii": object{"categories": []string{"EMAIL_ADDRESS"}, "redact": redact}},
				{"id": "see", "regexMatch": object{"rule": "forbidden", "not": true}},
			}})
			var ids []string
			for _, s := range guardedSurfaces {
				for _, stream := range []bool{false, true, false} {
					body := fmt.Sprintf(s.request, "write to "+mail)
					if stream {
						body = strings.Replace(body, `{`, `{"stream":true,`, 1)
					}
					a := g.call("POST", s.path, body, append(custom(up), "x-gateway-config: "+config, "x-gateway-trace-id: t1")...).want(t, 200)
					if strings.Contains(a.Body, mail) != (redact != true) {
						t.Errorf("%s: the client received %s", s.path, a.Body)
					}
					ids = append(ids, a.Header.Get("x-gateway-request-id"))
				}
			}
			for _, s := range up.Seen() {
				if strings.Contains(string(s.Body), mail) {
					t.Errorf("the provider received %s", s.Body)
				}
			}
			for _, id := range ids {
				g.awaitLog(id)
				for _, key := range []string{workspaceKey, adminKey} {
					if log := g.do(key, "GET", "/v1/logs/"+id+"?type=hooks", nil); strings.Contains(log.Body, mail) || !strings.Contains(log.Body, "EMAIL_ADDRESS") {
						t.Errorf("the log is %s", log.Body)
					}
				}
			}
			if found := g.search("ann.secret"); len(found) != 0 {
				t.Errorf("a search finds %q", found)
			}
			g.export(t, mail)
			g.stop()
			wantNowhere(t, g, mail, "SQLite format 3")
		})
	}
}

// export writes the log to a file, uncompressed, and checks that a text is not in it.
func (g *gateway) export(t *testing.T, missing string) {
	t.Helper()
	order := g.call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request","response"],"format":"parquet","compression":"none"}`)
	if order.Status != 200 {
		order = g.call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request","response"],"format":"parquet","compression":"zstd"}`).want(t, 200)
	}
	path := "/v1/logs/exports/" + order.get("id").String()
	g.call("POST", path+"/start", "").want(t, 200)
	eventually(t, logLimit, "the export is done", func() bool { return g.call("GET", path, "").get("status").String() == "success" })
	stored, err := filepath.Glob(filepath.Join(g.dir, "exports", "*"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("exports %q, %v", stored, err)
	}
	b, err := os.ReadFile(stored[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(strings.NewReader(string(b)), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]parquet.Row, file.NumRows())
	n, _ := file.RowGroups()[0].Rows().ReadRows(rows) // io.EOF with the last row
	if n == 0 {
		t.Fatal("the export has no rows")
	}
	for _, row := range rows[:n] {
		for _, v := range row {
			if strings.Contains(v.String(), missing) {
				t.Errorf("the export has %s", v)
			}
		}
	}
}

// A stored response is not served once its call is no longer permitted: after a guardrail was attached
// or changed, or the key was revoked.
func TestCacheServesNothingThatIsNoLongerPermitted(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, with("RESPONSE_CACHE_STORE=memory"))
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := g.do(g.key, "POST", "/v1/api-keys/workspace/service", object{"name": "cached", "scopes": []string{"completions.write", "logs.list"}})
	as := "x-gateway-api-key: " + made.get("key").String()
	eventually(t, inForce, "the key is known", func() bool { return g.call("GET", "/v1/logs", "", as).Status == 200 })
	ask := func() callResult {
		return g.call("POST", "/v1/chat/completions", hello, append(custom(up), as, inlineCache)...)
	}
	status := func() string { return ask().Header.Get(cacheStatus) }
	expect := func(step string, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := status(); got != w {
				t.Errorf("%s: the cache status is %q, want %q", step, got, w)
			}
		}
	}
	expect("at first", "MISS", "HIT")
	g.saveGuardrail("pg-later", "default.regexMatch", object{"rule": "never", "not": true}, object{"deny": true})
	g.do(adminKey, "PUT", "/v1/workspaces/"+workspace, object{"defaults": object{"output_guardrails": []string{"pg-later"}}})
	expect("a guardrail was attached", "MISS", "HIT")
	g.do(g.key, "PUT", "/v1/guardrails/pg-later", object{"checks": []object{{"id": "default.regexMatch", "parameters": object{"rule": "Hello", "not": true}}}})
	eventually(t, inForce, "the tightened guardrail denies the call", func() bool { return ask().Status == statusDenied })
	g.do(adminKey, "PUT", "/v1/workspaces/"+workspace, object{"defaults": object{"output_guardrails": []string{}}})
	expect("without the guardrail", "HIT")
	g.do(g.key, "DELETE", "/v1/api-keys/"+made.get("id").String(), nil)
	eventually(t, inForce, "the revoked key is refused", func() bool { return ask().Status == 401 })
}
