package e2e

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/storage/requestlog/clickhousetest"
	"sluice/internal/test/upstream"
)

// With the rows of the log in ClickHouse calls are served, listed and counted; while the
// server is away calls go on, health says what waits, and nothing of it is lost.
func TestRowsInClickHouse(t *testing.T) {
	t.Parallel()
	server := clickhousetest.Start(t)
	env := []string{"ANALYTICS_STORE_URL=" + server.URL, "ANALYTICS_STORE_USER=" + clickhousetest.User, "ANALYTICS_STORE_PASSWORD=" + clickhousetest.Password}
	data := filepath.Join(t.TempDir(), "data")
	runDoctor := func(more ...string) string {
		return cli(t, append(more, env...), "doctor", "--listen", "127.0.0.1:0", "--data-dir", data).out
	}
	if out := runDoctor(); !strings.Contains(out, "ok    analytics store") || !strings.Contains(out, "sluice migrate") {
		t.Errorf("before there are tables:\n%s", out)
	}
	if made := cli(t, env, "migrate", "--data-dir", data); made.code != 0 {
		t.Fatalf("migrate ended with %d:\n%s%s", made.code, made.out, made.err)
	}
	if out := runDoctor(); !strings.Contains(out, "responds, and the tables") {
		t.Errorf("behind migrate:\n%s", out)
	}
	env[2] = "ANALYTICS_STORE_PASSWORD=another"
	if out := runDoctor(); !strings.Contains(out, "FAIL  analytics store") || !strings.Contains(out, "check ANALYTICS_STORE_USER") {
		t.Errorf("with a wrong password:\n%s", out)
	}
	env[2] = "ANALYTICS_STORE_PASSWORD=" + clickhousetest.Password

	g := start(t, withDir(data), with(env...))
	g.saveProvider("main", upstream.Start(t))
	began := time.Now().UTC().Truncate(time.Minute)
	chat := func() {
		t.Helper()
		g.call("POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there"}]}`, "x-gateway-provider: @main").want(t, 200)
	}
	listed := func() int64 { return g.call("GET", "/v1/logs", "").get("data.#").Int() }
	counted := func() int64 {
		q := url.Values{"time_of_generation_min": {began.Format(time.RFC3339)}, "time_of_generation_max": {began.Add(30 * time.Minute).Format(time.RFC3339)}}
		return g.do(adminKey, "GET", "/v1/analytics/graphs/requests?"+q.Encode(), nil).get("summary.total").Int()
	}
	chat()
	eventually(t, logLimit, "the call is listed and counted", func() bool { return listed() == 1 && counted() == 1 })
	id := g.call("GET", "/v1/logs", "").want(t, 200).get("data.0.id").String()
	if body := g.call("GET", "/v1/logs/"+id, "").want(t, 200).get("request.body").Raw; !strings.Contains(body, "Hello there") {
		t.Errorf("the log has the body %s", body)
	}
	server.Kill()
	chat()
	status := func() string { return g.call("GET", "/v1/health", "").want(t, 200).get("status").String() }
	eventually(t, logLimit, "health says that the log waits", func() bool { return status() == "degraded" })
	g.call("GET", "/v1/logs", "").want(t, 503)
	server.Restart(t)
	eventually(t, logLimit, "the call of meanwhile is listed and counted", func() bool { return listed() == 2 && counted() == 2 })
	eventually(t, logLimit, "health is well", func() bool { return status() == "ok" })
}
