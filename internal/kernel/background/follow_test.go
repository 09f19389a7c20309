package background_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/kernel/background"
)

var errBroken = errors.New("broken")

// The pauses grow while nothing is achieved, and begin anew when something is.
func TestFollowPausesLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var done uint64
		var runs []time.Duration // since the beginning
		var pauses []time.Duration
		began := time.Now()
		background.RunWithBackoff(ctx, func(ctx context.Context) error {
			runs = append(runs, time.Since(began)/time.Second)
			switch len(runs) {
			case 9:
				done++
			case 11:
				cancel()
				return ctx.Err()
			}
			return errBroken
		}, func() uint64 { return done }, func(err error, pause time.Duration) {
			if !errors.Is(err, errBroken) {
				t.Errorf("told of %v", err)
			}
			pauses = append(pauses, pause/time.Second)
		})
		if want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91, 121, 122, 124}; !slices.Equal(runs, want) {
			t.Errorf("runs at %d, want %d", runs, want)
		}
		if want := []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 1, 2}; !slices.Equal(pauses, want) {
			t.Errorf("told of pauses of %d, want %d", pauses, want)
		}
	})
}

func TestFinishLastsFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		for _, c := range []struct {
			takes time.Duration
			err   error
			want  error
		}{{4 * time.Second, nil, nil}, {4 * time.Second, errBroken, errBroken}, {6 * time.Second, nil, nil}} {
			err := background.RunFinal(ended, func(ctx context.Context) error {
				if err := background.Sleep(ctx, c.takes); err != nil {
					return err
				}
				return c.err
			})
			if !errors.Is(err, c.want) {
				t.Errorf("what takes %s ends with %v, want %v", c.takes, err, c.want)
			}
		}
		if took := time.Since(began); took != 13*time.Second {
			t.Errorf("it all took %s", took)
		}
	})
}
