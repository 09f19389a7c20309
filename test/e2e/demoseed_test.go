package e2e

import (
	"net/url"
	"testing"
	"time"
)

// A demonstration with past traffic shows it in the log, in analytics, costs, users and
// feedback, once, whatever restarts follow.
func TestDemo_SeedDaysShowsAWeekOnce(t *testing.T) {
	t.Parallel()
	g := start(t, command("demo"), func(l *launch) { l.args = append(l.args, "--seed-days", "7") })
	now := time.Now().UTC()
	query := url.Values{"time_of_generation_min": {now.AddDate(0, 0, -8).Format(time.RFC3339)}, "time_of_generation_max": {now.Format(time.RFC3339)}}
	ask := func(g *gateway, path string) callResult {
		return g.do(adminKey, "GET", "/v1/analytics/"+path+"?"+query.Encode(), nil)
	}
	total := func(g *gateway) int64 { return ask(g, "graphs/requests").get("summary.total").Int() }
	var found int64
	eventually(t, logLimit, "the whole week and its feedback are in the log", func() bool {
		before := found
		found = total(g)
		return found > 1000 && found == before && ask(g, "graphs/feedbacks").get("summary.total").Int() > 0
	})
	for path, minimum := range map[string]struct {
		jsonPath string
		n        float64
	}{
		"graphs/cost":             {"summary.total", 1},
		"graphs/tokens":           {"summary.total", 100_000},
		"graphs/users":            {"summary.total", 9},
		"graphs/errors":           {"summary.total", 10},
		"graphs/requests/rescued": {"summary.fallback", 10},
		"groups/provider":         {"total", 3},
		"groups/model":            {"total", 4},
		"groups/metadata/team":    {"total", 2},
		"graphs/feedbacks":        {"summary.total", 50},
	} {
		if a := ask(g, path); a.get(minimum.jsonPath).Float() < minimum.n {
			t.Errorf("%s: want at least %v at %s: %.400s", path, minimum.n, minimum.jsonPath, a.Body)
		}
	}
	keys := g.do(workspaceKey, "GET", "/v1/api-keys", nil)
	for _, name := range []string{"Team Search", "Team Support"} {
		if !keys.get(`data.#(name=="` + name + `")`).Exists() {
			t.Errorf("there is no key %q: %.400s", name, keys.Body)
		}
	}
	a := g.call("POST", "/v1/chat/completions", `{"model":"demo","messages":[{"role":"user","content":"Hello there"}]}`).want(t, 200)
	g.awaitLog(a.Header.Get("x-gateway-request-id"))
	if newest := g.call("GET", "/v1/logs", "").want(t, 200).get("data.0"); newest.Get("cost").Float() <= 0 {
		t.Errorf("the scripted provider has no price: %.600s", newest.Raw)
	}
	g.stop()
	again := g.again()
	again.chat()
	eventually(t, logLimit, "the second call is in the log", func() bool {
		query.Set("time_of_generation_max", time.Now().UTC().Add(time.Minute).Format(time.RFC3339))
		return total(again) >= found+2
	})
	if n := total(again); n != found+2 {
		t.Errorf("%d requests after a restart, want %d", n, found+2)
	}
}
