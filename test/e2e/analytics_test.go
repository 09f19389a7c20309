package e2e

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// Graphs and groups add up with the calls that were made, with what was said of them, and
// with the rows of the log; and a restart loses nothing of it.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	up.Handle("/v1/chat/completions", func(s upstream.Seen) *upstream.Response {
		r := upstream.JSON(200, json.RawMessage(`{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`))
		if s.Get("Authorization") == "Bearer sk-upstream-secret-of-broken" {
			r = upstream.JSON(500, json.RawMessage(`{"error":{"message":"out of order"}}`))
		}
		return &r
	})
	g := start(t)
	g.saveProvider("main", up)
	g.saveProvider("broken", up)
	rescue := g.saveConfig("rescue", `{"strategy":{"mode":"fallback"},"targets":[{"provider":"@broken"},{"provider":"@main"}]}`)
	began := time.Now().UTC().Truncate(time.Minute)
	chat := func(user, trace string, headers ...string) {
		headers = append(headers, "x-gateway-trace-id: "+trace, `x-gateway-metadata: {"_user":"`+user+`","team":"search"}`)
		g.call("POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there"}]}`, headers...).want(t, 200)
	}
	chat("ada", "trace-1", "x-gateway-provider: @main")
	chat("ada", "trace-2", "x-gateway-provider: @main")
	chat("bob", "trace-3", "x-gateway-config: "+rescue)
	for _, value := range []int{8, -4} {
		g.do(workspaceKey, "POST", "/v1/feedback", object{"trace_id": "trace-1", "value": value, "weight": 0.5})
	}
	query := url.Values{"time_of_generation_min": {began.Format(time.RFC3339)}, "time_of_generation_max": {began.Add(30 * time.Minute).Format(time.RFC3339)}}
	ask := func(g *gateway, path string, more ...string) callResult {
		q := url.Values{}
		for name, v := range query {
			q[name] = v
		}
		for i := 0; i < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return g.do(adminKey, "GET", "/v1/analytics/"+path+"?"+q.Encode(), nil)
	}
	eventually(t, logLimit, "all attempts and feedback are counted", func() bool {
		return ask(g, "graphs/requests").get("summary.total").Int() == 4 && ask(g, "graphs/feedbacks").get("summary.total").Int() == 2
	})
	price := func(g *gateway) float64 {
		var sum float64
		for _, c := range g.call("GET", "/v1/logs", "").want(t, 200).get("data.#.cost").Array() {
			sum += c.Float()
		}
		return sum
	}
	hold := func(g *gateway) {
		t.Helper()
		for _, c := range []struct {
			path, jsonPath, want string
			more                 []string
		}{
			{"graphs/requests", "summary", `{"total":4,"success":3,"failed":1}`, nil},
			{"graphs/requests", "data_points.#", `30`, nil},
			{"graphs/tokens", "summary.total", "45", nil},
			{"graphs/users", "summary.total", "2", nil},
			{"graphs/errors/status-codes", "data_points", `[{"status_code":500,"count":1}]`, nil},
			{"graphs/requests/rescued", "summary", `{"retry":0,"fallback":1}`, nil},
			{"graphs/feedbacks/scores", "data_points", `[{"score":-4,"total":1},{"score":8,"total":1}]`, nil},
			{"graphs/feedbacks/weighted", "summary.avg", "1", nil},
			{"groups/users", "data.#(user==ada).requests", `"2"`, nil},
			{"groups/metadata/team", "data.0.requests_with_feedback", "1", nil},
			{"groups/provider", "data", `[{"provider":"main","requests":3,"object":"analytics-group"},{"provider":"broken","requests":1,"object":"analytics-group"}]`, nil},
			{"groups/config", "data.0.config", `"` + rescue + `"`, nil},
			{"groups/status_code", "data.#(status_code==500).success_rate", "0", []string{"columns", "success_rate"}},
			{"groups/model", "data.0.requests", "1", []string{"weighted_feedback_min", "0.5", "metadata", `{"_user":"ada"}`, "cost_min", "0.000001"}},
			{"groups/workspace", "total", "1", nil},
			{"summary/cache", "summary", `{"hits":0,"avg_latency":0,"total_requests":4,"cache_speedup":0}`, nil},
		} {
			if got := ask(g, c.path, c.more...).get(c.jsonPath).Raw; got != c.want {
				t.Errorf("%s %s: %s, want %s", c.path, c.jsonPath, got, c.want)
			}
		}
		cost, rows := ask(g, "graphs/cost").get("summary.total").Float(), price(g)
		if diff := cost - rows; rows <= 0 || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("the graph says %v cents, and the rows %v", cost, rows)
		}
		listed := g.call("GET", "/v1/logs?trace_id=trace-1", "").want(t, 200)
		if listed.get("total").Int() != 1 || listed.get("data.0.feedback_count").Int() != 2 || listed.get("data.0.avg_weighted_feedback").Float() != 1 {
			t.Errorf("the row of a trace with feedback: %s", listed.Body)
		}
	}
	hold(g)
	g.stop()
	next := g.again()
	hold(next)
	next.stop()
}
