package e2e

import (
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// secure gives the listener a certificate of an authority that the client trusts.
func secure(t testing.TB, ca *storetest.CA) option {
	t.Helper()
	cert, key := ca.Issue(t, "127.0.0.1")
	return func(l *launch) {
		l.env = append(l.env, "TLS_CERT="+cert, "TLS_KEY="+key)
		l.roots = x509.NewCertPool()
		l.roots.AppendCertsFromPEM([]byte(ca.PEM))
	}
}

// The listener speaks TLS with HTTP/2, streams included, and with nobody who does
// not trust its certificate's authority.
func TestTLS(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, secure(t, storetest.NewCA(t)))
	if !strings.HasPrefix(g.base, "https://") {
		t.Fatalf("it says that it listens on %s", g.base)
	}
	if a := g.chat(custom(up)...); a.Proto != "HTTP/2.0" {
		t.Errorf("it answers in %s", a.Proto)
	}
	stream := g.call("POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), custom(up)...).want(t, 200)
	if !strings.HasSuffix(stream.Body, "data: [DONE]\n\n") {
		t.Errorf("stream: %s", stream.Body)
	}
	stranger := *g
	stranger.http = &http.Client{}
	if a := stranger.try("GET", "/v1/health", ""); a.Err == nil || !strings.Contains(a.Err.Error(), "certificate") {
		t.Errorf("a stranger: %d %v", a.Status, a.Err)
	}
	plain := *g
	plain.base = strings.Replace(g.base, "https", "http", 1)
	if a := plain.try("GET", "/v1/health", ""); a.Status == 200 {
		t.Error("it answers in the clear")
	}
	if got := cli(t, []string{"TLS_CERT=" + setting(g, "TLS_CERT"), "TLS_KEY=" + setting(g, "TLS_KEY")}, "healthcheck", "--listen", strings.TrimPrefix(g.base, "https://")); got.code != 0 {
		t.Errorf("healthcheck: %+v", got)
	}
}

// setting is what a gateway was started with.
func setting(g *gateway, name string) string {
	for _, s := range g.plan.env {
		if v, ok := strings.CutPrefix(s, name+"="); ok {
			return v
		}
	}
	return ""
}

// The figures are a Prometheus exposition that its own linter finds nothing wrong
// with, and count what was done.
func TestMetrics(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	for range 3 {
		g.chat(custom(up)...)
	}
	g.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "fault:status@429", 1), custom(up)...).want(t, 429)
	a := g.call("GET", "/metrics", "", "x-gateway-api-key").want(t, 200)
	problems, err := promlint.New(strings.NewReader(a.Body)).Lint()
	if err != nil {
		t.Fatalf("it is no exposition: %v", err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "sluice_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for _, line := range []string{
		`sluice_requests_total{endpoint="chatComplete",status="2xx"} 3`,
		`sluice_requests_total{endpoint="chatComplete",status="4xx"} 1`,
		`sluice_tokens_total{direction="input",provider="openai"} 6`,
		`sluice_journal_records_total 4`,
		`sluice_journal_lines_total 4`,
		`sluice_records_lost_total 0`,
	} {
		if !strings.Contains(a.Body, line+"\n") {
			t.Errorf("it has no line %s", line)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(a.Body) {
			if strings.HasPrefix(line, "sluice_") && !strings.Contains(line, "_bucket") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
}

// Figures that have a token are shown to who sends it and to nobody else, whatever keys
// they have; health is for everybody still.
func TestMetricsWithAToken(t *testing.T) {
	t.Parallel()
	const token = "figures-of-the-gateway-0123456789"
	g := start(t, with("METRICS_TOKEN="+token))
	for _, headers := range [][]string{
		{"x-gateway-api-key"}, {}, {"authorization: Bearer " + token + "0"}, {"authorization: Bearer " + token[:16]}, {"authorization: Basic " + token},
		{"authorization: Bearer "}, {"x-gateway-api-key: " + token},
	} {
		if a := g.call("GET", "/metrics", "", headers...); a.Status != 401 || strings.Contains(a.Body, "sluice_requests") || a.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d %.200s", headers, a.Status, a.Body)
		}
	}
	if body := g.call("GET", "/metrics", "", "x-gateway-api-key", "authorization: bearer "+token).want(t, 200).Body; !strings.Contains(body, "sluice_open_requests 0\n") {
		t.Errorf("no figures: %.200s", body)
	}
	g.call("GET", "/v1/health", "", "x-gateway-api-key").want(t, 200)
}

// A page may call the gateway when the deployment says so, and only from where it
// says. What the provider lets pages do is about the provider's host.
func TestCORS(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Script(func(seen upstream.Seen) *upstream.Response {
		response := up.OK(seen)
		response.Header = append(response.Header, upstream.Field{Name: "Access-Control-Allow-Origin", Value: "*"}, upstream.Field{Name: "access-control-expose-headers", Value: "x-request-id"})
		return &response
	})
	g := start(t, with("ENABLE_CORS=ON", "CORS_ALLOWED_ORIGINS=https://app.example.com"))
	preflight := func(g *gateway, origin string) callResult {
		return g.call("OPTIONS", "/v1/chat/completions", "", "x-gateway-api-key", "Origin: "+origin,
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,x-gateway-api-key")
	}
	local := preflight(g, "https://app.example.com")
	if local.Status/100 != 2 || local.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" ||
		!strings.Contains(local.Header.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(local.Header.Get("Access-Control-Allow-Headers"), "x-gateway-api-key") {
		t.Errorf("preflight: %d %v", local.Status, local.Header)
	}
	if theirs := preflight(g, "https://evil.example.com"); theirs.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page may call: %v", theirs.Header)
	}
	a := g.chat(append(custom(up), "Origin: https://app.example.com")...)
	if got := a.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "https://app.example.com" || a.Header.Get("Access-Control-Expose-Headers") != "*" {
		t.Errorf("answer: %v", a.Header)
	}
	for _, origin := range []string{"", "https://evil.example.com"} {
		if a := g.chat(append(custom(up), "Origin: "+origin)...); a.Status != 200 || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("answer to %q: %d %v", origin, a.Status, a.Header)
		}
	}
	if off := preflight(start(t), "https://app.example.com"); off.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("pages may call although nobody said so: %v", off.Header)
	}
}

// Health needs no key, and says what it looked at.
func TestHealth(t *testing.T) {
	t.Parallel()
	g := start(t)
	for _, path := range []string{"/v1/health", "/health"} {
		a := g.call("GET", path, "", "x-gateway-api-key").want(t, 200)
		if a.get("status").String() != "ok" || a.get("version").String() != version {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	nowhere := g.call("GET", "/no/such/page", "", "x-gateway-api-key").want(t, 404)
	if nowhere.get("ok").Bool() || nowhere.get("message").String() == "" || nowhere.Header.Get("x-powered-by") != "" {
		t.Errorf("an unknown page: %s", nowhere.Body)
	}
}
