package load

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// paced sends by the clock. Requests that find no free connection wait for one, and
// the wait counts.
func (f *Fleet) paced(ctx context.Context) {
	total := int(f.job.Rate * f.job.For.Seconds())
	due := make(chan time.Time, total) // never full: the clock waits for nobody
	var work sync.WaitGroup
	for _, c := range f.clients {
		work.Go(func() {
			for start := range due {
				f.sent.Add(1)
				if f.note(c.do(ctx)) {
					f.latency.Add(time.Since(start))
				}
			}
		})
	}
	f.tick(ctx, total, due)
	work.Wait()
}

// tick hands out the times at which requests are due, each at its time. It has a
// thread of its own, because the runtime's timers are only good to a millisecond.
func (f *Fleet) tick(ctx context.Context, total int, due chan<- time.Time) {
	defer close(due)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	preciseSleep()
	began := time.Now()
	gap := float64(time.Second) / f.job.Rate
	for i := range total {
		start := began.Add(time.Duration(float64(i) * gap))
		if wait := time.Until(start); wait > 0 {
			nap(wait)
		}
		if ctx.Err() != nil {
			return
		}
		due <- start
	}
}
