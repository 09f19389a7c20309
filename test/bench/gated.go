package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sluice/test/bench/proc"
	"sluice/test/bench/report"
	"sluice/test/bench/target"
)

// startGated starts Sluice without the gate for the first row and once for all others, so
// that these differ in nothing but the keys of their requests. All have the same store. With
// limits on Redis it runs besides, when a server is there.
func (b *bench) startGated(ctx context.Context, f *field, dir string) error {
	ungated, err := b.buildWithout(ctx, "ungated")
	if err != nil {
		return err
	}
	off, err := f.startLimited(ctx, ungated, filepath.Join(dir, "ungated"), nil)
	if err != nil {
		return err
	}
	gateway, err := f.startLimited(ctx, b.sluice, filepath.Join(dir, "sluice"), nil)
	if err != nil {
		return err
	}
	f.contenders = append(f.contenders,
		called(off, report.Ungated, off.LimitedKeys[:1]),
		called(gateway, report.OneKey, gateway.LimitedKeys[:1]),
		called(gateway, report.TenKeys, gateway.LimitedKeys[:10]),
		called(gateway, report.ManyKeys, gateway.LimitedKeys),
		called(gateway, report.Governed, []string{gateway.Governed}))
	return b.startShared(ctx, f, filepath.Join(dir, "redis"))
}

// startShared starts Redis, and Sluice with limits that nodes share.
func (b *bench) startShared(ctx context.Context, f *field, dir string) error {
	path, there := target.FindRedis()
	if !there {
		fmt.Println("redis-server is not installed: its rows are missing")
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r, err := target.StartRedis(ctx, path, dir)
	if err != nil {
		return err
	}
	f.stops = append(f.stops, r.Stop)
	shared, err := f.startLimited(ctx, b.sluice, filepath.Join(dir, "sluice"), r)
	if err != nil {
		return err
	}
	f.contenders = append(f.contenders,
		called(shared, report.OneKeyShared, shared.LimitedKeys[:1]),
		called(shared, report.GovernedShared, []string{shared.Governed}))
	return nil
}

func (f *field) startLimited(ctx context.Context, path, dir string, r *target.Redis) (*target.Limited, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l, err := target.StartLimited(ctx, path, dir, f.up, r)
	if err != nil {
		return nil, err
	}
	f.stops = append(f.stops, l.Stop)
	return l, nil
}

// called is the way through l for callers with these keys.
func called(l *target.Limited, name string, keys []string) *contender {
	return &contender{
		name: name, addr: l.Addr, processes: proc.Family{l.PID}, gate: l.Sluice, keys: keys,
		lines: []string{configLine + l.Config, "x-gateway-metadata: " + target.GovernedMetadata},
	}
}

// inspect asks each program after the last round whether it did what its rows claim: the
// one without the gate reckoned nothing, all others each call.
func (f *field) inspect(ctx context.Context, out *report.Scenario) error {
	seen := map[*target.Sluice]bool{}
	for _, c := range f.contenders {
		if seen[c.gate] {
			continue
		}
		seen[c.gate] = true
		cost, err := c.gate.Cost(ctx)
		if err != nil {
			return err
		}
		if (cost > 0) == (c.name == report.Ungated) {
			out.Problems = append(out.Problems, fmt.Sprintf("%s: its calls cost %g dollars", c.name, cost))
		}
	}
	return nil
}
