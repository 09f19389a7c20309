package configs

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// endless is traffic with a further page after every page. Its bodies are complete.
type endless struct {
	Traffic
	rows int // that a page has at most
	find func(id string) error
}

func (e endless) List(_ context.Context, q record.Query) (record.Page, error) {
	rows := make([]record.Attempt, min(q.Limit, e.rows))
	for i := range rows {
		rows[i].ID = strconv.Itoa(i)
	}
	return record.Page{Rows: rows, Next: record.CursorAt(time.Unix(0, 0), "id")}, nil
}

func (e endless) Find(_ context.Context, _, _, id string) (record.Attempt, error) {
	if e.find != nil {
		if err := e.find(id); err != nil {
			return record.Attempt{}, err
		}
	}
	return record.Attempt{ID: id, Endpoint: llm.ChatComplete, Request: record.Body{Bytes: []byte(`{}`)}}, nil
}

// everywhere is Trials that apply to every call.
type everywhere struct{ Trials }

func (everywhere) Applies(llm.Endpoint, string, guardrail.Phase) bool { return true }

// runWith returns a run of one phase on endless traffic.
func runWith(logs Traffic, limit int, judge trial.Judge) *guardrailRun {
	return &guardrailRun{logs: logs, trials: everywhere{}, limit: limit, phases: []*phaseRun{{judge: judge, counts: dryRunPhaseView{Phase: guardrail.Input}}}}
}

func pass(context.Context, *trial.Case) (*trial.Outcome, error) { return &trial.Outcome{}, nil }

func TestADryRunEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 7, 1000, 2500} {
		d := runWith(endless{rows: record.MaxLimit}, limit, pass)
		if err := d.all(t.Context()); err != nil || d.read != limit || d.phases[0].counts.Judged != limit || d.cut != "limit" {
			t.Errorf("limit %d: read %d, judged %d, cut by %q: %v", limit, d.read, d.phases[0].counts.Judged, d.cut, err)
		}
	}
}

func TestADryRunEndsAfterAMinuteAndShowsWhatItRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ *trial.Case) (*trial.Outcome, error) {
			select {
			case <-time.After(7 * time.Second):
				return &trial.Outcome{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		d := runWith(endless{rows: 100}, 1000, slow)
		if err := d.all(t.Context()); err != nil || d.cut != "time" || d.read != 8*dryRunWorkers {
			t.Errorf("read %d, cut by %q: %v", d.read, d.cut, err)
		}
	})
}

func TestADryRunEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	d := runWith(endless{rows: 1}, 1, func(ctx context.Context, _ *trial.Case) (*trial.Outcome, error) { return nil, ctx.Err() })
	if err := d.all(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestADryRunSkipsDeletedRowsAndReportsABrokenStore(t *testing.T) {
	t.Parallel()
	missing := endless{rows: 10, find: func(string) error { return fault.New(fault.NotFound, "deleted") }}
	d := runWith(missing, 10, pass)
	if err := d.all(t.Context()); err != nil || d.read != 10 || d.phases[0].counts.Judged != 0 {
		t.Errorf("read %d, judged %d: %v", d.read, d.phases[0].counts.Judged, err)
	}
	broken := errors.New("the store is away")
	if err := runWith(endless{rows: 10, find: func(string) error { return broken }}, 10, pass).all(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestDryRunsWaitForASlotUntilTheirCallerLeaves(t *testing.T) {
	t.Parallel()
	s := make(slots, 1)
	if err := s.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.leave()
	if err := s.enter(t.Context()); err != nil {
		t.Error(err)
	}
}
