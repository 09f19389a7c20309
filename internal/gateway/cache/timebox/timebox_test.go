package timebox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/gateway/cache/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestResultsAreReturned(t *testing.T) {
	t.Parallel()
	failure := errors.New("x")
	n, err := timebox.Run(t.Context(), timebox.New(1), time.Hour, func() (int, error) { return 3, failure })
	if n != 3 || !errors.Is(err, failure) {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestHangingFunctionsDoNotBlockTheirCallers(t *testing.T) {
	t.Parallel()
	b := timebox.New(2)
	hang := make(chan struct{})
	fn := func() (int, error) { <-hang; return 0, nil }
	if _, err := timebox.Run(t.Context(), b, time.Millisecond, fn); !errors.Is(err, timebox.ErrSlow) {
		t.Errorf("slow: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := timebox.Run(ctx, b, time.Hour, fn); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := timebox.Run(t.Context(), b, time.Hour, fn); !errors.Is(err, timebox.ErrBusy) {
		t.Errorf("full: %v", err)
	}
	close(hang)
	b.Wait()
	if _, err := timebox.Run(t.Context(), b, time.Hour, fn); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}
