package target

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream/responder"
)

func TestFigureOf(t *testing.T) {
	t.Parallel()
	const page = "# HELP sluice_x X.\n# TYPE sluice_x counter\nsluice_x_total 1\nsluice_x 1.234567e+06\nsluice_y{a=\"b\"} 7\n"
	for name, want := range map[string]int64{"sluice_x": 1234567, "sluice_x_total": 1} {
		if got, err := parseMetric(page, name); got != want || err != nil {
			t.Errorf("%s: got %d, %v", name, got, err)
		}
	}
	if _, err := parseMetric(page, "sluice_y"); err == nil {
		t.Error("a figure with labels was taken")
	}
}

func TestSeriesOf(t *testing.T) {
	t.Parallel()
	const page = "# HELP x_count X.\nx_count{script=\"take\"} 3\nx_count{a=\"b\",script=\"take\"} 2\nx_count{script=\"settle\"} 1e+06\nx_count_total{script=\"take\"} 9\nx_count 7\n"
	got := seriesOf(page, "x_count", "script")
	if len(got) != 2 || got["take"] != 5 || got["settle"] != 1e6 {
		t.Errorf("got %v", got)
	}
}

// All policies are ones that the administration would take, and match a call of the
// benchmark.
func TestPoliciesMatch(t *testing.T) {
	t.Parallel()
	call := &quota.Call{Provider: "openai", Model: GovernedModel, Metadata: map[string]string{"team": "search"}}
	for i := range Policies / 2 {
		conditions, groups := matching(i)
		budget, rate := budgetPolicy(i, conditions, groups), ratePolicy(i, conditions, groups)
		if err := errors.Join(budget.Validate(), rate.Validate()); err != nil {
			t.Errorf("policy %d: %v", i, err)
		}
		if _, ok := budget.Compile("b").Match(call); !ok {
			t.Errorf("the budget %d does not match", i)
		}
		if _, ok := rate.Compile("r").Match(call); !ok {
			t.Errorf("the rate %d does not match", i)
		}
	}
}

// The real upstream, and nginx before it when there is one, answer and are counted.
func TestUpstreamAndNginx(t *testing.T) {
	t.Parallel()
	path, err := BuildUpstream(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, secure := range []bool{false, true} {
		u, err := StartUpstream(t.Context(), path, t.TempDir(), Answers{Options: responder.Options{ChatBytes: 2048}, TLS: secure})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := u.Stop(); err != nil {
				t.Error(err)
			}
		})
		want := int64(1)
		if n := ask(t, &u.http, u.URL()); n != 2048 {
			t.Errorf("tls %v: the upstream sent %d bytes", secure, n)
		}
		if nginx, ok := FindNginx(); ok {
			want += callThroughNginx(t, nginx, u)
		}
		if s, err := u.Stats(t.Context()); err != nil || s.Chats != want {
			t.Errorf("tls %v: %+v, %v; want %d chats", secure, s, err, want)
		}
	}
}

// callThroughNginx asks through nginx and returns how often.
func callThroughNginx(t *testing.T, path string, u *Upstream) int64 {
	t.Helper()
	if v, err := NginxVersion(t.Context(), path); err != nil || !strings.HasPrefix(v, "nginx/") {
		t.Errorf("version %q, %v", v, err)
	}
	n, err := StartNginx(t.Context(), path, t.TempDir(), u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, addr := range []string{n.Addr, n.Buffered} {
		if got := ask(t, http.DefaultClient, "http://"+addr); got != 2048 {
			t.Errorf("nginx at %s sent %d bytes", addr, got)
		}
	}
	return 2
}

// ask sends a chat and returns the length of the answer.
func ask(t *testing.T, c *http.Client, url string) int {
	t.Helper()
	resp, err := c.Post(url+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return len(b)
}

func TestBuildUpstreamTellsWhyItFailed(t *testing.T) {
	t.Parallel()
	if _, err := BuildUpstream(t.Context(), "/proc/nowhere"); err == nil {
		t.Error("built into a folder that does not exist")
	}
}
