package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/record"
	"sluice/internal/storage/sqlstore/storetest"
)

// dryRunWorld is a world with a guardrail that allows at most three words.
func dryRunWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.shown(t, "service", "POST", "/v1/guardrails", `{"name": "Short", "slug": "short", "checks": [{"id": "default.wordCount", "parameters": {"maxWords": 3}}], "actions": {"deny": true}}`)
	return w
}

// dryRunDay is the day of the calls that tests add: no other call is on record there.
const dryRunDay = `"from": "2026-11-19T00:00:00Z", "to": "2026-11-20T00:00:00Z"`

// recorded adds a chat call of that day.
func (w *world) recorded(t *testing.T, request, response string, edit func(a *record.Attempt)) string {
	t.Helper()
	return w.putLog(t, func(a *record.Attempt) {
		a.Started = began.Add(-12 * time.Hour)
		a.Request = record.Body{Type: "application/json", Bytes: []byte(request), Size: int64(len(request))}
		a.Response = record.Body{Type: "application/json", Bytes: []byte(response), Size: int64(len(response))}
		if edit != nil {
			edit(a)
		}
	})
}

func (w *world) dryRun(t *testing.T, caller, slug, body string) gjson.Result {
	t.Helper()
	return w.shown(t, caller, "POST", "/v1/guardrails/"+slug+"/dry-run", body)
}

// shown returns the body of a successful response.
func (w *world) shown(t *testing.T, caller, method, path, body string) gjson.Result {
	t.Helper()
	rec := w.raw(t, caller, method, path, body)
	if rec.Code != 200 {
		t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes())
}

const (
	shortChat, longChat = `{"messages":[{"role":"user","content":"Hello"}]}`, `{"messages":[{"role":"user","content":"one two three four"}]}`
	shortAnswer         = `{"choices":[{"message":{"role":"assistant","content":"Hi"}}]}`
	longStream          = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"one two \"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"three four\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
)

func TestADryRunCountsBothPhasesOfRecordedCalls(t *testing.T) {
	t.Parallel()
	w := dryRunWorld(t)
	w.recorded(t, shortChat, shortAnswer, nil)
	long := w.recorded(t, longChat, shortAnswer, nil)
	streamed := w.recorded(t, shortChat, longStream, func(a *record.Attempt) { a.Stream = true })
	w.recorded(t, "", "", nil)
	w.recorded(t, longChat, shortAnswer, func(a *record.Attempt) { a.Request.Truncated, a.Status, a.Upstream = true, 500, 500 })
	w.recorded(t, "not JSON", shortAnswer, func(a *record.Attempt) { a.Status, a.Upstream = 500, 500 })
	w.recorded(t, "", "", func(a *record.Attempt) { a.Outcome, a.Status, a.Upstream = record.Refused, 429, 0 })
	w.recorded(t, longChat, shortAnswer, func(a *record.Attempt) { a.Endpoint = "listModels" })
	got := w.dryRun(t, "service", "short", `{`+dryRunDay+`}`)
	for path, want := range map[string]int64{
		"read": 8, "phases.0.judged": 3, "phases.0.without_body": 2, "phases.0.unreadable": 1, "phases.0.would_deny": 1, "phases.0.would_fail": 0,
		"phases.1.judged": 3, "phases.1.without_body": 1, "phases.1.would_deny": 1, "checks.0.judged": 3, "checks.0.failed": 1, "checks.1.failed": 1, "samples.would_deny.#": 2,
	} {
		if n := got.Get(path).Int(); n != want {
			t.Errorf("%s is %d, not %d: %s", path, n, want, got)
		}
	}
	for id, phase := range map[string]string{long: "input", streamed: "output"} {
		if p := got.Get(fmt.Sprintf(`samples.would_deny.#(log_id=="%s").phase`, id)).String(); p != phase {
			t.Errorf("%s: got %q, not %s: %s", id, p, phase, got)
		}
	}
}

func TestADryRunOfADraftShowsWhatItWouldChange(t *testing.T) {
	t.Parallel()
	w := dryRunWorld(t)
	w.recorded(t, shortChat, shortAnswer, nil)
	got := w.dryRun(t, "admin", "short", `{`+dryRunDay+`, "checks": [{"id": "default.addPrefix", "parameters": {"prefix": "Now: "}}]}`)
	if got.Get("phases.0.would_change").Int() != 1 || got.Get("samples.would_change.0.excerpt").String() != "Hello" || got.Get("samples.would_change.0.checks.0").String() != "default.addPrefix" {
		t.Errorf("got %s", got)
	}
	if got.Get("guardrail_version_id").Exists() {
		t.Errorf("a draft has a version: %s", got)
	}
}

func TestADryRunShowsAtMostTwentySamples(t *testing.T) {
	t.Parallel()
	w := dryRunWorld(t)
	for range 25 {
		w.recorded(t, longChat, shortAnswer, nil)
	}
	got := w.dryRun(t, "service", "short", `{`+dryRunDay+`, "limit": 23, "phase": "input"}`)
	for path, want := range map[string]int64{"read": 23, "phases.#": 1, "phases.0.would_deny": 23, "samples.would_deny.#": 20} {
		if n := got.Get(path).Int(); n != want {
			t.Errorf("%s is %d, not %d", path, n, want)
		}
	}
	if got.Get("truncated").String() != "limit" {
		t.Errorf("the limit is not shown: %s", got.Get("truncated"))
	}
}

// A log shows the results of guardrails and the use of the response cache. Without bodies it does not
// show the question that the cache found.
func TestALogShowsHooksAndCache(t *testing.T) {
	t.Parallel()
	w := dryRunWorld(t)
	id := w.putLog(t, func(a *record.Attempt) {
		a.Hooks = `{"before_request_hooks":[{"verdict":true,"id":"short","transformed":false,"checks":[],"feedback":null,"execution_time":1,"async":false,"type":"guardrail","created_at":"2026-11-20T10:00:00.5Z","deny":false,"skipped":true}],"after_request_hooks":[]}`
		a.Lookup = `{"key":"00ff","mode":"semantic","max_age":60,"matched":"What is it?","cosine":0.97,"guard":"same","saved_nano":20000000,"lookup_nano":10000}`
	})
	full, hooks := w.shown(t, "service", "GET", "/v1/logs/"+id, ""), w.shown(t, "service", "GET", "/v1/logs/"+id+"?type=hooks", "")
	for path, want := range map[string]string{
		"hooks.before_request_hooks.0.id": "short", "hooks.before_request_hooks.0.skipped": "true", "hooks.after_request_hooks": "[]",
		"cache.key": "00ff", "cache.mode": "semantic", "cache.cosine": "0.97", "cache.saved": "2", "cache.lookup_cost": "0.001",
	} {
		if full.Get(path).String() != want || hooks.Get(path).String() != want {
			t.Errorf("%s: got %s and %s", path, full.Get(path), hooks.Get(path))
		}
	}
	if full.Get("cache.matched").String() != "What is it?" || hooks.Get("cache.matched").Exists() || hooks.Get("request.body").Exists() {
		t.Errorf("got %s and %s", full.Get("cache"), hooks)
	}
	if none := w.shown(t, "service", "GET", "/v1/logs/"+w.names.values["log1"], ""); none.Get("cache").Exists() {
		t.Errorf("got %s", none.Get("cache"))
	}
}
