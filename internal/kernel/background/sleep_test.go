package background_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/kernel/background"
)

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := background.Sleep(ctx, time.Microsecond); err != nil {
		t.Errorf("a wait that nobody ended = %v", err)
	}
	if err := background.Sleep(ctx, 0); err != nil {
		t.Errorf("no wait = %v", err)
	}
	time.AfterFunc(time.Millisecond, cancel)
	if err := background.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was ended = %v", err)
	}
	if err := background.Sleep(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("no wait after the end = %v", err)
	}
}
