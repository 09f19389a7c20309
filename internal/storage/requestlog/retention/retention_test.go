package retention

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/tenant"
	"sluice/internal/storage/requestlog"
)

func TestRetentionIsInWholeDays(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	now := day(22).Add(5 * time.Hour).In(time.FixedZone("", -8*3600))
	overrides := map[string]tenant.Retention{
		"short": {Bodies: new(1), Metrics: new(4)},
		"long":  {Bodies: new(9), Rows: new(9)},
	}
	got := cutoffs(now, tenant.Retention{Bodies: new(3), Rows: new(5), Metrics: new(10)}, overrides)
	want := requestlog.Retention{
		Bodies:  requestlog.RetentionCutoffs{Before: day(19), Workspaces: map[string]time.Time{"short": day(21), "long": day(19)}},
		Rows:    requestlog.RetentionCutoffs{Before: day(17), Workspaces: map[string]time.Time{"short": day(18), "long": day(17)}},
		Metrics: requestlog.RetentionCutoffs{Before: day(12), Workspaces: map[string]time.Time{"short": day(18), "long": day(12)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	without := cutoffs(now, tenant.Retention{Bodies: new(30), Rows: new(10), Metrics: new(10)}, nil)
	if all := (requestlog.RetentionCutoffs{Before: day(12), Workspaces: map[string]time.Time{}}); !cmp.Equal(without, requestlog.Retention{Bodies: all, Rows: all, Metrics: all}) {
		t.Errorf("rows and bodies outlive figures: %+v", without)
	}
}

// A program that runs for less than an hour ends what is due too.
func TestHourlyBeginsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 150*time.Minute)
		defer stop()
		began := time.Now()
		var times []time.Duration
		if err := hourly(ctx, func() { times = append(times, time.Since(began)) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]time.Duration{0, time.Hour, 2 * time.Hour}, times); diff != "" {
			t.Errorf("done at (-want +got):\n%s", diff)
		}
	})
}
