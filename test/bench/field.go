package main

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"

	"sluice/test/bench/proc"
	"sluice/test/bench/report"
	"sluice/test/bench/target"
)

// contender is one way to the upstream.
type contender struct {
	name      string
	addr      string
	tls       *tls.Config
	lines     []string       // of the request's header
	keys      []string       // of callers who take turns, each a further line; none: lines have all
	processes proc.Family    // processes of the target; none for direct
	gate      *target.Sluice // nil but for Sluice
	body      int            // length of an answer's body where it is not that of the scenario's job; 0: it is
}

// field is the programs of one scenario.
type field struct {
	up         *target.Upstream
	family     proc.Family // the upstream's
	contenders []*contender
	stops      []func() error
}

// start starts everything that a scenario compares.
func (b *bench) start(ctx context.Context, s *scenario) (_ *field, err error) {
	f := &field{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.stop())
		}
	}()
	dir := filepath.Join(b.dir, s.name)
	for _, d := range []string{"upstream", "nginx", "sluice", "unlogged", "bare"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	f.stops = append(f.stops, func() error { return os.RemoveAll(dir) })
	if f.up, err = target.StartUpstream(ctx, b.upstream, filepath.Join(dir, "upstream"), s.answers); err != nil {
		return nil, err
	}
	f.stops = append(f.stops, f.up.Stop)
	f.family = proc.Family{f.up.PID}
	if s.gated {
		return f, b.startGated(ctx, f, dir)
	}
	if s.translated {
		return f, f.startTranslated(ctx, b.sluice, filepath.Join(dir, "sluice"), s)
	}
	f.contenders = append(f.contenders, &contender{name: report.Direct, addr: f.up.Addr, tls: f.up.TLS(), lines: []string{upstreamKey}})
	if b.nginx != "" {
		if err := f.startNginx(ctx, b.nginx, filepath.Join(dir, "nginx"), s.buffered); err != nil {
			return nil, err
		}
	}
	if err := f.startSluice(ctx, b.sluice, filepath.Join(dir, "sluice"), report.Sluice); err != nil || !s.layered {
		return f, err
	}
	return f, b.startLayers(ctx, f, dir)
}

// startLayers starts Sluice without the request log, and without the gate besides.
func (b *bench) startLayers(ctx context.Context, f *field, dir string) error {
	for _, l := range []struct{ dir, name, tags string }{
		{"unlogged", report.Unlogged, "unlogged"},
		{"bare", report.Bare, "unlogged,ungated"},
	} {
		path, err := b.buildWithout(ctx, l.tags)
		if err != nil {
			return err
		}
		if err := f.startSluice(ctx, path, filepath.Join(dir, l.dir), l.name); err != nil {
			return err
		}
	}
	return nil
}

// upstreamKey is the credential that Sluice adds and the others pass on.
const upstreamKey = "Authorization: Bearer sk-upstream"

func (f *field) startNginx(ctx context.Context, path, dir string, buffered bool) error {
	n, err := target.StartNginx(ctx, path, dir, f.up)
	if err != nil {
		return err
	}
	f.stops = append(f.stops, n.Stop)
	processes, err := proc.FamilyOf(n.PID)
	if err != nil {
		return err
	}
	f.contenders = append(f.contenders, &contender{name: report.Nginx, addr: n.Addr, lines: []string{upstreamKey}, processes: processes})
	if buffered {
		f.contenders = append(f.contenders, &contender{name: report.Buffered, addr: n.Buffered, lines: []string{upstreamKey}, processes: processes})
	}
	return nil
}

// startSluice starts the program at path as a target of this name.
func (f *field) startSluice(ctx context.Context, path, dir, name string) error {
	s, err := target.StartSluice(ctx, path, dir, f.up)
	if err != nil {
		return err
	}
	f.stops = append(f.stops, s.Stop)
	f.contenders = append(f.contenders, through(s, name, s.Config))
	return nil
}

// Lines of a request to Sluice begin so.
const (
	keyLine    = "x-gateway-api-key: "
	configLine = "x-gateway-config: "
)

// through is the way through s that config leads.
func through(s *target.Sluice, name, config string) *contender {
	return &contender{
		name: name, addr: s.Addr, processes: proc.Family{s.PID}, gate: s,
		lines: []string{keyLine + s.Key, configLine + config},
	}
}

// stop ends everything, the last started first.
func (f *field) stop() error {
	var errs []error
	for i := len(f.stops) - 1; i >= 0; i-- {
		errs = append(errs, f.stops[i]())
	}
	return errors.Join(errs...)
}
