package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"sluice/test/bench/load"
	"sluice/test/bench/proc"
	"sluice/test/bench/report"
	"sluice/test/bench/stat"
)

const (
	roundLimit   = time.Minute // for what a round takes beyond its length
	catchUpLimit = 2 * time.Minute
	countTries   = 10
	countPause   = 100 * time.Millisecond
)

// costs are the processor times at one moment.
type costs struct{ target, upstream, generator, machine time.Duration }

func (f *field) costs(c *contender) (now costs, err error) {
	if now.target, err = c.processes.CPU(); err != nil {
		return now, err
	}
	if now.upstream, err = f.family.CPU(); err != nil {
		return now, err
	}
	if now.generator, err = proc.GeneratorCPU(); err != nil {
		return now, err
	}
	now.machine, err = proc.Busy()
	return now, err
}

// round puts the load on one contender and says what it cost, and what happened
// that must not.
func (f *field) round(ctx context.Context, c *contender, j load.Job) (*report.Round, []string, error) {
	before, err := f.counts(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if err := c.processes.ResetPeak(); err != nil {
		return nil, nil, err
	}
	r, res, err := f.measure(ctx, c, j)
	if err != nil {
		return nil, nil, err
	}
	problems, after, err := f.verify(ctx, c, res, before)
	sent := float64(max(res.Unmeasured+res.Sent, 1))
	r.WaitedTrips, r.OtherTrips = float64(after.waitedTrips-before.waitedTrips)/sent, float64(after.otherTrips-before.otherTrips)/sent
	return r, problems, err
}

// verify looks until what was counted agrees with what was sent: an answer is out
// a moment before the upstream has counted it. What then still differs is wrong.
func (f *field) verify(ctx context.Context, c *contender, res *load.Result, before counts) (problems []string, after counts, err error) {
	for tries := 1; ; tries++ {
		if after, err = f.counts(ctx, c); err != nil {
			return nil, after, err
		}
		problems = check(c.name, res, before, after)
		if len(problems) == 0 || tries == countTries {
			return problems, after, nil
		}
		select {
		case <-ctx.Done():
			return nil, after, ctx.Err()
		case <-time.After(countPause):
		}
	}
}

// measure runs the load between two looks at the costs, and a third when the
// target has nothing left to do.
func (f *field) measure(ctx context.Context, c *contender, j load.Job) (*report.Round, *load.Result, error) {
	fleet, err := load.Open(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	defer fleet.Close()
	runtime.GC() // the generator's own, now rather than in the round
	begin, err := f.costs(c)
	if err != nil {
		return nil, nil, err
	}
	res := fleet.Run(ctx)
	end, err := f.costs(c)
	if err != nil {
		return nil, nil, err
	}
	if err := c.awaitLog(ctx); err != nil {
		return nil, nil, err
	}
	cpuAfter, err := c.processes.CPU()
	if err != nil {
		return nil, nil, err
	}
	peak, err := c.processes.Peak()
	if err != nil {
		return nil, nil, err
	}
	r := roundMetrics(res, begin, end)
	r.CPUWithLog = per1000(cpuAfter-begin.target, res.Sent)
	r.PeakMB = float64(peak) / 1e6
	return r, res, nil
}

// awaitLog waits until the request log has caught up.
func (c *contender) awaitLog(ctx context.Context) error {
	if c.gate == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, catchUpLimit)
	defer stop()
	return c.gate.AwaitIngest(ctx)
}

// roundMetrics computes a round's figures from what was counted.
func roundMetrics(res *load.Result, begin, end costs) *report.Round {
	cpu := end.target - begin.target
	upstream, generator := end.upstream-begin.upstream, end.generator-begin.generator
	others := end.machine - begin.machine - cpu - upstream - generator
	r := &report.Round{
		Requests: res.Sent, Unmeasured: res.Unmeasured, Failed: res.Failed, Seconds: res.Took.Seconds(), PerSecond: res.PerSecond(),
		CPU: per1000(cpu, res.Sent), Upstream: per1000(upstream, res.Sent), Generator: per1000(generator, res.Sent),
		Foreign: max(others.Seconds(), 0) / (res.Took.Seconds() * float64(runtime.NumCPU())),
	}
	r.P50US, r.P99US = us(res.Latency, 0.5), us(res.Latency, 0.99)
	r.P999US, r.MaxUS = us(res.Latency, 0.999), us(res.Latency, 1)
	if r.Events = res.Delay.Count(); r.Events > 0 {
		r.EventP50, r.EventP99, r.EventMax = us(res.Delay, 0.5), us(res.Delay, 0.99), us(res.Delay, 1)
	}
	return r
}

func us(h *stat.Histogram, q float64) float64 { return float64(h.Quantile(q).Nanoseconds()) / 1e3 }

func per1000(d time.Duration, n int64) float64 {
	return d.Seconds() * 1e6 / float64(max(n, 1))
}

// counts are what upstream and journal have counted so far.
type counts struct {
	upstream    int64
	broken      int64
	records     int64 // -1: there is no journal
	waitedTrips int64 // round trips to Redis that calls waited for
	otherTrips  int64 // all others
}

func (f *field) counts(ctx context.Context, c *contender) (n counts, err error) {
	s, err := f.up.Stats(ctx)
	if err != nil {
		return n, fmt.Errorf("ask the upstream for its counts: %w", err)
	}
	n = counts{upstream: s.Requests, broken: s.Broken, records: -1}
	if c.gate == nil {
		return n, nil
	}
	if n.records, err = c.gate.Records(ctx); err != nil {
		return n, err
	}
	n.waitedTrips, n.otherTrips, err = c.gate.Trips(ctx)
	return n, err
}

// check compares what was sent with what arrived, was answered and is on record.
func check(name string, res *load.Result, before, after counts) (problems []string) {
	sent, arrived := res.Unmeasured+res.Sent, after.upstream-before.upstream
	add := func(n int64, what string) {
		if n > 0 {
			problems = append(problems, fmt.Sprintf("%s: %d of %d requests %s", name, n, sent, what))
		}
	}
	for what, n := range res.Failures {
		add(n, "failed: "+what)
	}
	add(sent-arrived, "lost on the way to the upstream")
	add(arrived-sent, "doubled")
	add(after.broken-before.broken, "broken at the upstream")
	if after.records >= 0 {
		recorded := after.records - before.records
		add(sent-recorded, "not on record")
		add(recorded-sent, "on record twice")
	}
	return problems
}
