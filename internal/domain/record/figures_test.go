package record_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
)

// Sums add up, times widen, and what cannot be added stays as it is.
func TestFiguresAdd(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	one := record.Metrics{
		Requests: 1, Errors: 2, Cost: 3, Tokens: 4, Input: 5, Output: 6, Latency: 7, P50: 8, P90: 9, P95: 10, P99: 11, Users: 12, UserRequests: 13,
		ByRetry: 14, ByFallback: 15, SimpleHits: 16, SemanticHits: 17, SimpleSaved: 18, SemanticSaved: 19, HitLatency: 20,
		First: at, Last: at, Feedbacks: 21, Judged: 22, Weighted: 2.5,
	}
	other := one
	other.First, other.Last = at.Add(-time.Hour), at.Add(time.Hour)
	var sum record.Metrics
	for _, f := range []record.Metrics{one, other, {}} {
		sum.Add(&f)
	}
	want := record.Metrics{
		Requests: 2, Errors: 4, Cost: 6, Tokens: 8, Input: 10, Output: 12, Latency: 14, UserRequests: 26,
		ByRetry: 28, ByFallback: 30, SimpleHits: 32, SemanticHits: 34, SimpleSaved: 36, SemanticSaved: 38, HitLatency: 40,
		First: at.Add(-time.Hour), Last: at.Add(time.Hour), Feedbacks: 42, Judged: 44, Weighted: 5,
	}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Error(diff)
	}
}

// Buckets begin where a clock of their zone shows it, and weeks on a Monday.
func TestBucket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step, zone  time.Duration
		input, want string
	}{
		{time.Minute, 0, "2026-11-20T10:07:59Z", "2026-11-20T10:07:00Z"},
		{time.Hour, 0, "2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"},
		{time.Hour, 330 * time.Minute, "2026-11-20T10:07:59Z", "2026-11-20T09:30:00Z"},
		{24 * time.Hour, 2 * time.Hour, "2026-11-20T22:30:00Z", "2026-11-20T22:00:00Z"},
		{24 * time.Hour, -8 * time.Hour, "2026-11-20T07:00:00Z", "2026-11-19T08:00:00Z"},
		{7 * 24 * time.Hour, 0, "2026-11-20T10:00:00Z", "2026-11-16T00:00:00Z"},
		{7 * 24 * time.Hour, 2 * time.Hour, "2026-11-22T23:00:00Z", "2026-11-22T22:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.input)
		if err != nil {
			t.Fatal(err)
		}
		a := record.Analysis{Step: c.step, Zone: c.zone}
		if got := a.Bucket(at).Format(time.RFC3339); got != c.want {
			t.Errorf("%v east by %v: %s begins at %s, want %s", c.step, c.zone, c.input, got, c.want)
		}
	}
}
