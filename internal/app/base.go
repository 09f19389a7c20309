package app

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"sluice/internal/kernel/background"
	"sluice/internal/kernel/ident"
	"sluice/internal/ops/config"
	"sluice/internal/ops/datadir"
	"sluice/internal/ops/telemetry"
	"sluice/internal/ops/telemetry/accesslog"
)

// base is what every part needs: the settings, the log, the clock, the metrics, and the lists of
// what runs and what is closed at the end.
type base struct {
	set     config.Settings
	version string
	log     *slog.Logger
	clock   ident.Clock
	metrics *telemetry.Registry
	access  *accesslog.Log // nil without an access log
	options Options

	services background.Group // steps of New add services, and Run the others
	closers  []io.Closer      // resources that New opened; closed in reverse order
}

func newBase(s config.Settings, o Options) *base {
	b := &base{set: s, version: o.Version, log: o.Log, clock: o.Clock, metrics: telemetry.NewRegistry(), access: o.AccessLog, options: o}
	if b.clock == nil {
		b.clock = ident.System{}
	}
	return b
}

func (a *base) lockData(context.Context) error {
	lock, err := datadir.Lock(a.set.Data.Dir)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, lock)
	return nil
}

func (a *base) openData(context.Context) error { return datadir.Create(a.set.Data.Dir) }

// Close closes what New opened, in reverse order. Further calls do nothing.
func (a *base) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i].Close())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// closerFunc adapts a function that cannot fail to io.Closer.
type closerFunc func()

// Close calls f and returns nil.
func (f closerFunc) Close() error { f(); return nil }
