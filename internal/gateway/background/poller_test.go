package background_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/background"
	"sluice/internal/kernel/ident"
)

var usual = background.Limits{Responses: 2, Time: time.Hour, Pause: time.Second, MaxPause: 10 * time.Second}

// call is a response that is in progress until the given number of polls, and then reports last.
type call struct {
	working int
	last    background.Result
	err     error // of the polls before the last

	polls   int
	outcome record.Outcome // of Record or Abandon
	reason  string
}

func (c *call) Poll(context.Context) (*background.Result, error) {
	if c.polls++; c.polls > c.working {
		return &c.last, nil
	}
	return &background.Result{Status: 200, Body: []byte(`{"id":"r","status":"in_progress"}`)}, c.err
}

func (c *call) Record(*background.Result, string) { c.outcome = record.OK }

func (c *call) Abandon(o record.Outcome, reason string) { c.outcome, c.reason = o, reason }

func response(c *call) *background.Response {
	return &background.Response{ID: "r", WorkspaceID: "w", Started: time.Now(), Call: c}
}

// run polls the responses until wait has passed, and then stops.
func run(t *testing.T, p *background.Poller, wait time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	time.Sleep(wait)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func newPoller() *background.Poller {
	return background.New(usual, ident.System{}, slog.New(slog.DiscardHandler))
}

var completed = background.Result{Status: 200, Body: []byte(`{"id":"r","status":"completed"}`)}

func TestPoller_PollsUntilTheResponseEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call  call
		want  record.Outcome
		polls int
	}{
		"it ends":                                {call{working: 2, last: completed}, record.OK, 3},
		"polls fail at first":                    {call{working: 2, last: completed, err: errors.New("unreachable")}, record.OK, 3},
		"the provider rejects each poll":         {call{last: background.Result{Status: 404}}, record.Unreachable, 5},
		"the provider fails until the time ends": {call{last: background.Result{Status: 503}}, record.Timeout, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, call := newPoller(), c.call
				p.Add(response(&call))
				run(t, p, 2*time.Hour)
				if call.outcome != c.want {
					t.Errorf("outcome %q (%s), want %q", call.outcome, call.reason, c.want)
				}
				if c.polls > 0 && call.polls != c.polls {
					t.Errorf("%d polls, want %d", call.polls, c.polls)
				}
				if p.Len() != 0 {
					t.Errorf("%d responses are still polled", p.Len())
				}
			})
		})
	}
}

func TestPoller_AbandonsWhatHasNotEndedWhenItStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, before, after := newPoller(), call{working: 1 << 20}, call{}
		p.Add(response(&before))
		run(t, p, time.Minute)
		p.Add(response(&after))
		if before.outcome != record.Interrupted || after.outcome != record.Interrupted {
			t.Errorf("outcomes %q and %q, want both interrupted", before.outcome, after.outcome)
		}
		if p.HasCapacity() {
			t.Error("a stopped poller accepts responses")
		}
	})
}

func TestPoller_HasALimitedCapacity(t *testing.T) {
	t.Parallel()
	p := newPoller()
	for range usual.Responses {
		if !p.HasCapacity() {
			t.Fatalf("no capacity with %d responses", p.Len())
		}
		p.Add(response(&call{}))
	}
	if p.HasCapacity() {
		t.Error("capacity beyond the limit")
	}
}

func TestPoller_PollsOnRequest(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(ctx context.Context, p *background.Poller){
		"a caller saw its end": func(_ context.Context, p *background.Poller) { p.RequestPoll("w", "r") },
		"a caller deletes it":  func(ctx context.Context, p *background.Poller) { p.PollBeforeDelete(ctx, "w", "r") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := usual
				l.Pause, l.MaxPause = time.Hour, time.Hour
				p, c := background.New(l, ident.System{}, slog.New(slog.DiscardHandler)), call{last: completed}
				p.Add(response(&c))
				go request(t.Context(), p)
				run(t, p, time.Second)
				if c.outcome != record.OK || c.polls != 1 {
					t.Errorf("outcome %q after %d polls, want the end after one", c.outcome, c.polls)
				}
			})
		})
	}
}

func TestWorkingID_IsThatOfAResponseInProgress(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{`{"id":"r","status":"queued"}`: "r", `{"id":"r","status":"in_progress"}`: "r", `{"id":"r","status":"completed"}`: "", `{}`: ""} {
		if got := background.WorkingID([]byte(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
