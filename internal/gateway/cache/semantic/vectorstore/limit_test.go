package vectorstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
)

// store is a store that fails, or that hangs until its context ends.
type store struct {
	vectorstore.Store
	err   error
	hangs bool
	calls int
}

func (s *store) Search(ctx context.Context, _ vectorstore.Search) ([]vectorstore.Match, error) {
	s.calls++
	if s.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []vectorstore.Match{{}}, s.err
}

// systemClock is the clock of a synctest bubble.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func TestLimited_IsAVectorStore(t *testing.T) {
	t.Parallel()
	vectorstoretest.Run(t, func(_ *testing.T, clock *vectorstoretest.Clock) vectorstore.Store {
		return vectorstore.Limit(index.New(clock, index.Options{}), 0, clock)
	})
}

func TestLimited_AStoreThatHangsIsAMissAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{hangs: true}
		limited := vectorstore.Limit(s, 200*time.Millisecond, systemClock{})
		start := time.Now()
		for range 10 {
			if found, err := limited.Search(t.Context(), vectorstore.Search{}); found != nil || err == nil {
				t.Fatalf("found %v, %v", found, err)
			}
		}
		if took := time.Since(start); took != 600*time.Millisecond || s.calls != 3 {
			t.Errorf("ten searches took %v and %d calls, want three timeouts", took, s.calls)
		}
		if got := limited.Failures(); got != 3 {
			t.Errorf("counted %d failures, want 3", got)
		}
	})
}

func TestLimited_TriesAgainAfterEachPause(t *testing.T) {
	t.Parallel()
	clock := &vectorstoretest.Clock{Time: vectorstoretest.Start}
	s := &store{err: vectorstore.ErrStatus}
	limited := vectorstore.Limit(s, 0, clock)
	search := func() error {
		_, err := limited.Search(t.Context(), vectorstore.Search{})
		return err
	}
	for range 3 {
		if err := search(); !errors.Is(err, vectorstore.ErrStatus) {
			t.Fatalf("got %v, want the error of the store", err)
		}
	}
	for _, pause := range []int{1, 2, 4, 8, 16, 30, 30} {
		clock.Time = clock.Time.Add(time.Duration(pause)*time.Second - 1)
		if err := search(); !errors.Is(err, vectorstore.ErrUnavailable) {
			t.Fatalf("before %d s: got %v, want ErrUnavailable", pause, err)
		}
		clock.Time = clock.Time.Add(1)
		if err := search(); !errors.Is(err, vectorstore.ErrStatus) {
			t.Fatalf("after %d s: got %v, want the error of the store", pause, err)
		}
	}
	s.err = nil
	clock.Time = clock.Time.Add(30 * time.Second)
	for range 3 {
		if err := search(); err != nil {
			t.Errorf("after the recovery: %v", err)
		}
	}
}

func TestLimited_CallersWhoLeaveDoNotOpenTheBreaker(t *testing.T) {
	t.Parallel()
	limited := vectorstore.Limit(&store{hangs: true}, time.Hour, systemClock{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := limited.Search(ctx, vectorstore.Search{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}
