package gateway

import (
	"errors"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/gateway/guardrails"
)

// Results that are there when the attempt is recorded are part of its record, in the order of its
// phases; later ones are entries that name the attempt.
func TestAsyncResults_AreLateAfterTheRecord(t *testing.T) {
	t.Parallel()
	x := &exchange{id: "request-1"}
	x.key = new(keys.Entry)
	x.key.Principal.OrgID = "org-1"
	a := &attempt{x: x, started: time.Unix(1e9, 0)}
	a.results.Before = []guardrails.Result{{ID: "sync"}}
	h := newAsyncHooks(&Gateway{})
	r := h.resultsOf(a)
	if h.resultsOf(a) != r {
		t.Error("an attempt has two results")
	}
	for _, p := range []guardrail.Phase{guardrail.Output, guardrail.Input} {
		if _, _, isLate := r.add(p, []guardrails.Result{{ID: "early " + string(p)}}); isLate {
			t.Errorf("%s: late before the record", p)
		}
	}
	all := r.join(a)
	if len(all.Before) != 2 || all.Before[0].ID != "sync" || all.Before[1].ID != "early input" || len(all.After) != 1 || all.After[0].ID != "early output" || len(a.results.Before) != 1 {
		t.Errorf("record: %+v", all)
	}
	entry, _, isLate := r.add(guardrail.Output, []guardrails.Result{{ID: "late"}})
	if !isLate || entry.ID != "request-1" || entry.OrgID != "org-1" || !entry.Started.Equal(a.started) {
		t.Errorf("late %v: %+v", isLate, entry)
	}
}

// Hooks that would exceed a limit do not run, and what ended gives its place back.
func TestAsyncHooks_AreLimited(t *testing.T) {
	t.Parallel()
	h := newAsyncHooks(&Gateway{})
	if err := h.acquire(maxAsyncBytes + 1); !errors.Is(err, errAsyncTooLong) {
		t.Errorf("a text that is too long: %v", err)
	}
	if err := h.acquire(maxAsyncBytes - 10); err != nil {
		t.Fatal(err)
	}
	if err := h.acquire(11); !errors.Is(err, errAsyncBusy) {
		t.Errorf("more text than is left: %v", err)
	}
	for range maxAsyncHooks - 1 {
		if err := h.acquire(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.acquire(0); !errors.Is(err, errAsyncBusy) {
		t.Errorf("one more: %v", err)
	}
	h.release(maxAsyncBytes - 10)
	if err := h.acquire(20); err != nil {
		t.Errorf("after one ended: %v", err)
	}
}
