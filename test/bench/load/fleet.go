package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/test/bench/stat"
)

const (
	maxFailures  = 8   // kinds of failures told apart
	dialsAtOnce  = 64  // fewer than any listen queue holds
	hopelessness = 100 // failures in a row after which a connection gives up
)

// Fleet is the connections of a Job, open and warm. Open, Run and Close are called
// in this order, once each.
type Fleet struct {
	job        Job
	clients    []*client
	sent       atomic.Int64
	unmeasured atomic.Int64
	failed     atomic.Int64
	latency    stat.Histogram
	delay      stat.Histogram

	mu       sync.Mutex // guards what follows
	failures map[string]int64
}

// Open connects and sends the requests that are not measured.
func Open(ctx context.Context, j Job) (*Fleet, error) {
	f := &Fleet{job: j, failures: map[string]int64{}}
	ends := time.Now().Add(j.Limit)
	var unmeasured stat.Histogram
	var g errgroup.Group
	g.SetLimit(dialsAtOnce)
	for range j.Conns {
		c := newClient(&f.job, ends)
		c.events.delay = &unmeasured
		f.clients = append(f.clients, c)
		g.Go(func() error {
			if err := c.dial(ctx); err != nil {
				return err
			}
			for range j.Unmeasured {
				f.unmeasured.Add(1)
				f.note(c.do(ctx))
			}
			c.events.delay = &f.delay
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Run sends the measured requests, and returns when the last of them is answered.
func (f *Fleet) Run(ctx context.Context) *Result {
	began := time.Now()
	if f.job.Rate > 0 {
		f.paced(ctx)
	} else {
		f.closed(ctx)
	}
	return &Result{
		Unmeasured: f.unmeasured.Load(), Sent: f.sent.Load(), Failed: f.failed.Load(), Failures: f.failures,
		Took: time.Since(began), Latency: &f.latency, Delay: &f.delay,
	}
}

// Close ends the connections.
func (f *Fleet) Close() {
	for _, c := range f.clients {
		c.close()
	}
}

// note counts a failure.
func (f *Fleet) note(err error) bool {
	if err == nil {
		return true
	}
	f.failed.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	text := err.Error()
	if _, known := f.failures[text]; !known && len(f.failures) >= maxFailures {
		text = "others"
	}
	f.failures[text]++
	return false
}
