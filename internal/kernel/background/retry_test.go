package background_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/kernel/background"
)

func TestRetry_ReturnsTheLastErrorAtTheLimit(t *testing.T) {
	t.Parallel()
	lagging := errors.New("the tables do not exist yet")
	for _, c := range []struct {
		name      string
		succeedAt int
		calls     int
		want      error
	}{
		{"first call succeeds", 1, 1, nil},
		{"third call succeeds", 3, 3, nil},
		{"no call succeeds", 100, 10, lagging},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				err := background.Retry(t.Context(), time.Second, 100*time.Millisecond+time.Millisecond, func(context.Context) error {
					if calls++; calls == c.succeedAt {
						return nil
					}
					return lagging
				})
				if !errors.Is(err, c.want) {
					t.Errorf("error: got %v, want %v", err, c.want)
				}
				if calls != c.calls {
					t.Errorf("calls: got %d, want %d", calls, c.calls)
				}
			})
		})
	}
}
