package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
)

// asyncLog waits until the hooks in the log of a call, of a phase, are there, and returns the log.
func (g *gateway) asyncLog(traceID, phase string, isThere func(gjson.Result) bool) callResult {
	g.t.Helper()
	var a callResult
	eventually(g.t, logLimit, "the results of the "+phase+" of "+traceID+" are in the log", func() bool {
		id := g.call("GET", "/v1/logs?"+url.Values{"trace_id": {traceID}}.Encode(), "").get("data.0.id").String()
		if id == "" {
			return false
		}
		a = g.call("GET", "/v1/logs/"+id+"?type=hooks", "").want(g.t, 200)
		return isThere(a.get("hooks." + phase + "_request_hooks"))
	})
	return a
}

// Results of asynchronous guardrails are in the log of their call, also those that come after it, and
// those that the gateway cannot wait for when it stops.
func TestAsyncGuardrails_AreInTheLog(t *testing.T) {
	t.Parallel()
	g := start(t, with("DRAIN_TIMEOUT=300ms"))
	service, release, never := upstream.Start(t), make(chan struct{}), make(chan struct{})
	defer close(never)
	g.saveProvider("main", upstream.Start(t))
	waiting := func(slug string, until chan struct{}) string {
		service.Handle("/"+slug, func(upstream.Seen) *upstream.Response {
			<-until
			r := upstream.JSON(200, object{"verdict": false, "data": object{"reason": "late"}})
			return &r
		})
		return g.saveGuardrail(slug, "default.webhook", object{"webhookURL": service.URL() + "/" + slug, "timeout": 20_000}, object{"async": true})
	}
	slow, hanging := waiting("pg-slow", release), waiting("pg-hanging", never)
	word := g.saveGuardrail("pg-word", "default.contains", object{"words": []string{"there"}, "operator": "none"}, object{"async": true})
	config := `x-gateway-config: {"provider":"@main","input_guardrails":["` + slow + `"],"output_guardrails":["` + word + `"]}`
	a := g.call("POST", "/v1/chat/completions", strings.Replace(hello, `{`, `{"stream":true,`, 1), config, "x-gateway-trace-id: trace-1").want(t, 200)
	if strings.Contains(a.Body, "hook_results") {
		t.Errorf("the caller sees results: %s", a.Body)
	}
	judged := g.asyncLog("trace-1", "after", func(r gjson.Result) bool { return r.Get("#").Int() == 1 })
	if r := judged.get("hooks.after_request_hooks.0"); r.Get("id").String() != word || r.Get("verdict").Bool() || !r.Get("async").Bool() || r.Get("guardrail_version_id").String() == "" || !r.Get("checks.0.data").IsObject() {
		t.Errorf("output: %s", r.Raw)
	}
	if r := judged.get("hooks.before_request_hooks"); r.Get("#").Int() != 0 {
		t.Errorf("the log has the result of a guardrail that still runs: %s", r.Raw)
	}
	close(release)
	late := g.asyncLog("trace-1", "before", func(r gjson.Result) bool { return r.Get("#").Int() == 1 })
	if r := late.get("hooks.before_request_hooks.0"); r.Get("id").String() != slow || r.Get("verdict").Bool() || !r.Get("async").Bool() || late.get("hooks.after_request_hooks.#").Int() != 1 {
		t.Errorf("input: %s", r.Raw)
	}
	eventually(t, logLimit, "the feedback of both is on the trace", func() bool {
		return g.call("GET", "/v1/logs/"+late.get("_id").String(), "").get("feedbacks.#").Int() == 2
	})

	config = strings.ReplaceAll(config, slow, hanging)
	g.call("POST", "/v1/chat/completions", hello, config, "x-gateway-trace-id: trace-2").want(t, 200)
	g.stop()
	g = g.again()
	ended := g.asyncLog("trace-2", "before", func(r gjson.Result) bool { return r.Get("#").Int() == 1 })
	if r := ended.get("hooks.before_request_hooks.0"); !r.Get("skipped").Bool() || !strings.Contains(r.Get("skip_reason").String(), "stopped") {
		t.Errorf("after the stop: %s", r.Raw)
	}
}
