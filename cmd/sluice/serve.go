package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"sluice/internal/app"
	"sluice/internal/config"
)

type serve struct {
	CPUProfile string `name:"cpu-profile" help:"Write where processor time goes, for go tool pprof; complete when the gateway has stopped." placeholder:"FILE"`
}

// Run serves until it is told to stop.
func (c serve) Run(ctx context.Context, s *settings) (err error) {
	stop, err := profiling(c.CPUProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return run(ctx, s, false)
}

type demo struct{}

// Run serves with the scripted provider registered.
func (demo) Run(ctx context.Context, s *settings) error { return run(ctx, s, true) }

func run(ctx context.Context, s *settings, demo bool) (err error) {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	apart(l, demo)
	var first app.FirstKeys
	a, err := app.New(ctx, l.Settings, app.Options{
		Version: version, Log: log, Demo: demo, OwnGC: os.Getenv("GOGC") != "", AccessLog: accessLog(&l.Settings, log), Founded: func(made app.FirstKeys) { first = made },
	})
	if err != nil {
		if first != (app.FirstKeys{}) { // the next start has them already
			founded(s, l, demo)(first)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // as whoever sent the signal wants it
			log.Info("told to stop before the start was over", "at", err.Error())
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	welcome(a, s, l, first, demo)
	return a.Run(ctx)
}

// apart keeps a demonstration away from the data of a real gateway, whose workspace would
// else have the scripted provider as its default.
func apart(l *config.Loaded, demo bool) {
	if demo && l.Origin("DATA_DIR") == "default" {
		l.Settings.Data.Dir = filepath.Join(l.Settings.Data.Dir, "demo")
	}
}
