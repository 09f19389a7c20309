package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sluice/internal/app"
	"sluice/internal/ops/config"
)

type serve struct {
	CPUProfile string `name:"cpu-profile" help:"Write a CPU profile for go tool pprof; the file is complete after the gateway has stopped." placeholder:"FILE"`
}

// Run serves until the process receives a signal to stop.
func (c serve) Run(ctx context.Context, s *settings) (err error) {
	stop, err := profiling(c.CPUProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return run(ctx, s, false)
}

type demo struct {
	SeedDays int `name:"seed-days" help:"Add this many days of made-up traffic, up to 90, on the first start in a data directory." default:"0" placeholder:"DAYS"`
}

// maxSeedDays is demo.MaxTrafficDays of the gateway.
const maxSeedDays = 90

// Run serves with the scripted provider registered.
func (d demo) Run(ctx context.Context, s *settings) error {
	if d.SeedDays < 0 || d.SeedDays > maxSeedDays {
		return fmt.Errorf("--seed-days must be between 0 and %d", maxSeedDays)
	}
	return runSeeded(ctx, s, true, d.SeedDays)
}

func run(ctx context.Context, s *settings, demo bool) error { return runSeeded(ctx, s, demo, 0) }

func runSeeded(ctx context.Context, s *settings, demo bool, seedDays int) (err error) {
	l, log, err := s.load()
	if err != nil {
		return err
	}
	apart(l, demo)
	var first app.FirstKeys
	a, err := app.New(ctx, l.Settings, app.Options{
		Version: version, Log: log, Demo: demo, SeedDays: seedDays, HasGOGC: os.Getenv("GOGC") != "", AccessLog: accessLog(ctx, &l.Settings, log), OnBootstrap: func(made app.FirstKeys) { first = made },
	})
	if err != nil {
		if first != (app.FirstKeys{}) { // the next start has them already
			founded(s, l, demo)(first)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // as whoever sent the signal wants it
			log.Info("stopped during start-up", "at", err.Error())
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	printGreeting(a, s, l, first, demo)
	return a.Run(ctx)
}

// apart keeps a demonstration away from the data of a real gateway, whose workspace would
// else have the scripted provider as its default.
func apart(l *config.Loaded, demo bool) {
	if demo && l.Origin("DATA_DIR") == "default" {
		l.Settings.Data.Dir = filepath.Join(l.Settings.Data.Dir, "demo")
	}
}
