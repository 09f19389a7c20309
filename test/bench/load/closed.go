package load

import (
	"context"
	"sync"
	"time"
)

// closed keeps every connection busy until the time is over or each has sent its
// number.
func (f *Fleet) closed(ctx context.Context) {
	var work sync.WaitGroup
	began := time.Now()
	for i, c := range f.clients {
		start := began.Add(f.job.Ramp * time.Duration(i) / time.Duration(len(f.clients)))
		work.Go(func() {
			if pause(ctx, start) {
				f.loop(ctx, c, began.Add(f.job.For))
			}
		})
	}
	work.Wait()
}

// loop is one connection's share.
func (f *Fleet) loop(ctx context.Context, c *client, ends time.Time) {
	last := time.Now()
	for n, bad := 0, 0; ctx.Err() == nil && bad < hopelessness; n++ {
		if f.job.Each > 0 && n >= f.job.Each || f.job.Each == 0 && !last.Before(ends) {
			return
		}
		f.sent.Add(1)
		ok := f.note(c.do(ctx))
		now := time.Now()
		if bad++; ok {
			f.latency.Add(now.Sub(last))
			bad = 0
		}
		last = now
	}
}

// pause waits until t and reports false when ctx ended first.
func pause(ctx context.Context, t time.Time) bool {
	wait := time.Until(t)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
