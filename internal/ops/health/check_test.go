package health_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"sluice/internal/ops/health"
)

func TestCheck_AcceptsOnlyAGateway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		code       int
		status     string // empty: it is not a gateway
	}{
		{"gateway", `{"status":"ok","version":"1","database":"ok","journal":"ok"}`, 200, "ok"},
		{"gateway that drains", `{"status":"draining","version":"1","database":"ok","journal":"ok"}`, 503, "draining"},
		{"another server", "<html>hello</html>", 200, ""},
		{"another server with a status", `{"status":"ok"}`, 200, ""},
		{"empty response", "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			status, err := health.Check(t.Context(), srv.URL)
			if status != c.status {
				t.Errorf("status: got %q, want %q", status, c.status)
			}
			if (err == nil) != (c.status != "") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestReport_NamesThePartThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("dial tcp 10.0.0.1:6379: refused")
	ok := func() error { return nil }
	fails := func() error { return broken }
	healthy := func() health.Sources {
		return health.Sources{
			Version: "1", Database: func() (string, string) { return "ok", "" }, Log: ok, Usage: ok, Journal: ok, Draining: func() bool { return false },
		}
	}
	for _, c := range []struct {
		name   string
		change func(*health.Sources)
		want   string
	}{
		{"all parts work", func(*health.Sources) {}, `{"status":"ok","version":"1","database":"ok","journal":"ok"}`},
		{"database is down", func(s *health.Sources) { s.Database = func() (string, string) { return "down", "since noon" } },
			`{"status":"degraded","version":"1","database":"down","journal":"ok","detail":"since noon"}`},
		{"limits work", func(s *health.Sources) { s.Limits = ok }, `{"status":"ok","version":"1","database":"ok","journal":"ok","limits":"ok"}`},
		{"limits fail", func(s *health.Sources) { s.Limits = fails },
			`{"status":"degraded","version":"1","database":"ok","journal":"ok","limits":"refusing","detail":"cannot check limits without Redis; calls with limits are rejected"}`},
		{"limits fail and are counted locally", func(s *health.Sources) { s.Limits, s.LocalLimits = fails, true },
			`{"status":"degraded","version":"1","database":"ok","journal":"ok","limits":"alone","detail":"this node checks limits locally without Redis; limits may be exceeded"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			c.change(&s)
			w := httptest.NewRecorder()
			health.New(s).ServeHTTP(w, nil)
			if got := w.Body.String(); got != c.want+"\n" {
				t.Errorf("body:\ngot  %swant %s", got, c.want)
			}
		})
	}
}
