package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"sluice/test/bench/load"
	"sluice/test/bench/proc"
	"sluice/test/bench/report"
	"sluice/test/bench/target"
)

// plane is a deployment whose administration is measured.
type plane struct {
	name string // OnSQLite or OnPostgres
	*target.Deployment
	processes proc.Family
}

// startPlanes starts one on each engine that is there. They serve all scenarios, one
// after the other: to fill one takes longer than to measure it.
func (b *bench) startPlanes(ctx context.Context) error {
	if b.planes != nil {
		return nil
	}
	start := func(name string, db *target.Database) error {
		d, err := target.StartDeployment(ctx, b.sluice, filepath.Join(b.dir, name), db)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.planes = append(b.planes, &plane{name, d, proc.Family{d.PID}})
		return nil
	}
	if err := start(report.OnSQLite, target.SQLite()); err != nil {
		return err
	}
	db, err := target.Postgres(ctx)
	if err != nil {
		fmt.Println("there is no PostgreSQL, so its rows are missing:", err)
		return nil
	}
	return start(report.OnPostgres, db)
}

func (b *bench) stopPlanes() error {
	var errs []error
	for _, p := range b.planes {
		errs = append(errs, p.Stop())
	}
	b.planes = nil
	return errors.Join(errs...)
}

// administer runs a scenario of the administration on every plane.
func (b *bench) administer(ctx context.Context, s *scenario, out *report.Scenario) error {
	if err := b.startPlanes(ctx); err != nil {
		return err
	}
	for range b.rounds {
		for i, p := range b.planes {
			if len(out.Rows) <= i {
				out.Rows = append(out.Rows, &report.Row{Target: p.name})
			}
			r, problems, err := p.round(ctx, s, b.options)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			out.Rows[i].Rounds = append(out.Rows[i].Rounds, *r)
			out.Problems = append(out.Problems, problems...)
		}
	}
	return nil
}

// round puts the load on the plane.
func (p *plane) round(ctx context.Context, s *scenario, o options) (*report.Round, []string, error) {
	j := s.job
	j.Addr, j.For, j.Limit = p.Addr, o.length, o.length+roundLimit
	var n atomic.Int64
	j.Next = func() []byte { return s.asks(p, int(n.Add(1))).wire(p.Addr, keyLine+p.Key) }
	if err := p.processes.ResetPeak(); err != nil {
		return nil, nil, err
	}
	fleet, err := load.Open(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	defer fleet.Close()
	runtime.GC()
	begin, err := p.costs()
	if err != nil {
		return nil, nil, err
	}
	res := fleet.Run(ctx)
	end, err := p.costs()
	if err != nil {
		return nil, nil, err
	}
	peak, err := p.processes.Peak()
	if err != nil {
		return nil, nil, err
	}
	r := roundMetrics(res, begin, end)
	r.CPUWithLog, r.PeakMB = r.CPU, float64(peak)/1e6
	var problems []string
	for what, n := range res.Failures {
		problems = append(problems, fmt.Sprintf("%s: %d of %d requests failed: %s", p.name, n, res.Unmeasured+res.Sent, what))
	}
	return r, problems, nil
}

func (p *plane) costs() (now costs, err error) {
	if now.target, err = p.processes.CPU(); err != nil {
		return now, err
	}
	if now.generator, err = proc.GeneratorCPU(); err != nil {
		return now, err
	}
	now.machine, err = proc.Busy()
	return now, err
}
