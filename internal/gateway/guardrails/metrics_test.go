package guardrails_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
)

// Every run of a check is counted and timed, by check and phase, also in asynchronous hooks.
func TestMetrics_CountAndTimeEachCheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hooks := b.hooks(hook("h", "pass", "fail", "error"))
	b.run(chatCall(), hooks, greeting)
	if _, err := b.engine.RunAsync(context.Background(), hooks, chatCall(), guardrail.Output, 200, []byte(`{"choices":[{"message":{"content":"Hi"}}]}`)); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(b.metrics.Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.Metric {
			key := f.GetName()
			for _, l := range m.Label {
				key += " " + l.GetValue()
			}
			got[key] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for check, verdict := range map[string]string{"default.pass": "passed", "default.fail": "failed", "default.error": "error"} {
		for _, phase := range []string{"input", "output"} {
			if n, timed := got["sluice_guardrail_checks_total "+check+" "+phase+" "+verdict], got["sluice_guardrail_check_seconds "+check+" "+phase]; n != 1 || timed != 1 {
				t.Errorf("%s in the %s: %v %s and %v timed, want 1", check, phase, n, verdict, timed)
			}
		}
	}
}

// Asynchronous hooks decide and change nothing, and their results are marked.
func TestRunAsync_ChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	denying := hook("denying", "fail", "first")
	denying.Deny, denying.Async = true, true
	hooks := b.hooks(denying)
	results, err := b.engine.RunAsync(context.Background(), hooks, chatCall(), guardrail.Input, 0, []byte(`{"messages":[{"role":"user","content":"Ann"}]}`))
	if err != nil || len(results) != 1 {
		t.Fatalf("%+v, %v", results, err)
	}
	if r := results[0]; !r.Async || r.Verdict || r.Deny || r.Transformed || r.Checks[1].Transformed || !hooks[0].Deny {
		t.Errorf("%+v", r)
	}
	if list := guardrails.NotRun(hooks, "too busy", results[0].CreatedAt); len(list) != 1 || !list[0].Skipped || !list[0].Async || list[0].Reason != "too busy" || list[0].ID != "denying" {
		t.Errorf("skipped: %+v", list)
	}
}
