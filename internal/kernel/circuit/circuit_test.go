package circuit_test

import (
	"testing"
	"time"

	"sluice/internal/kernel/circuit"
)

var policy = circuit.Policy{Failures: 3, FirstPause: time.Second, MaxPause: 30 * time.Second}

// start is the time at which the tests begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// opened returns a breaker that opened at start.
func opened() *circuit.Breaker {
	b := &circuit.Breaker{Policy: policy}
	for range policy.Failures {
		b.Record(start, b.Acquire(start), circuit.Failed)
	}
	return b
}

// wantPermit fails the test unless the breaker grants a permit after a time.
func wantPermit(t *testing.T, b *circuit.Breaker, after time.Duration, want circuit.Permit) {
	t.Helper()
	if got := b.Acquire(start.Add(after)); got != want {
		t.Errorf("after %v: permit %d, want %d", after, got, want)
	}
}

func TestBreaker_OpensAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	b := &circuit.Breaker{Policy: policy}
	for _, o := range []circuit.Outcome{circuit.Failed, circuit.Failed, circuit.Succeeded, circuit.Failed, circuit.Unknown, circuit.Failed} {
		wantPermit(t, b, 0, circuit.Allowed)
		b.Record(start, circuit.Allowed, o)
	}
	wantPermit(t, b, 0, circuit.Allowed)
	b.Record(start, circuit.Allowed, circuit.Failed)
	wantPermit(t, b, time.Second-1, circuit.Denied)
}

func TestBreaker_DoublesThePauseUpToItsMaximum(t *testing.T) {
	t.Parallel()
	b, passed := opened(), time.Duration(0)
	for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
		passed += time.Duration(seconds) * time.Second
		wantPermit(t, b, passed-1, circuit.Denied)
		wantPermit(t, b, passed, circuit.Trial)
		b.Record(start.Add(passed), circuit.Trial, circuit.Failed)
	}
}

func TestBreaker_PermitsOneCallAfterAPause(t *testing.T) {
	t.Parallel()
	b := opened()
	wantPermit(t, b, time.Second, circuit.Trial)
	wantPermit(t, b, time.Hour, circuit.Denied)
	b.Record(start.Add(time.Hour), circuit.Trial, circuit.Succeeded)
	wantPermit(t, b, time.Hour, circuit.Allowed)
}

func TestBreaker_StartsWithTheFirstPauseAfterASuccess(t *testing.T) {
	t.Parallel()
	b := opened()
	wantPermit(t, b, time.Second, circuit.Trial)
	b.Record(start.Add(time.Second), circuit.Trial, circuit.Failed)
	wantPermit(t, b, 3*time.Second, circuit.Trial)
	b.Record(start.Add(3*time.Second), circuit.Trial, circuit.Succeeded)
	for range policy.Failures {
		b.Record(start.Add(3*time.Second), circuit.Allowed, circuit.Failed)
	}
	wantPermit(t, b, 4*time.Second, circuit.Trial)
}

func TestBreaker_TriesAgainAfterATrialWithoutAResult(t *testing.T) {
	t.Parallel()
	b := opened()
	wantPermit(t, b, time.Second, circuit.Trial)
	b.Record(start.Add(time.Second), circuit.Trial, circuit.Unknown)
	wantPermit(t, b, time.Second, circuit.Trial)
}

func TestBreaker_CallsFromBeforeAPauseDoNotChangeIt(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]circuit.Outcome{"failed": circuit.Failed, "without a result": circuit.Unknown} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := opened()
			b.Record(start.Add(time.Second/2), circuit.Allowed, o)
			wantPermit(t, b, time.Second, circuit.Trial)
			b.Record(start.Add(time.Second), circuit.Allowed, o)
			wantPermit(t, b, time.Second, circuit.Denied)
		})
	}
}
