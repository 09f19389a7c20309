package app

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// service runs as long as the program: run blocks until its context ends or it fails.
type service struct {
	name string
	run  func(ctx context.Context) error
}

// group runs services together. When the first one returns, all are stopped, one after the other
// in reverse order of start, each with a deadline. So a service stops after those that depend on
// it.
type group struct {
	parts    []service
	deadline time.Duration
}

func (g *group) add(name string, run func(context.Context) error) {
	g.parts = append(g.parts, service{name, run})
}

// run returns when all services have ended, with their errors.
func (g *group) run(ctx context.Context) error {
	type ended struct {
		name string
		err  error
	}
	first := make(chan ended, len(g.parts))
	stops := make([]context.CancelFunc, len(g.parts))
	done := make([]chan struct{}, len(g.parts))
	for i, p := range g.parts {
		serviceCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		stops[i], done[i] = stop, make(chan struct{})
		go func() {
			err := p.run(serviceCtx)
			first <- ended{p.name, err}
			close(done[i])
		}()
	}
	var errs []error
	select {
	case <-ctx.Done():
	case e := <-first:
		errs = append(errs, fmt.Errorf("%s ended: %w", e.name, orUnexpected(e.err)))
	}
	for i := len(g.parts) - 1; i >= 0; i-- {
		stops[i]()
		select {
		case <-done[i]:
		case <-time.After(g.deadline):
			errs = append(errs, fmt.Errorf("%s did not stop within %s", g.parts[i].name, g.deadline))
		}
	}
	for {
		select {
		case e := <-first:
			if e.err != nil && !errors.Is(e.err, context.Canceled) {
				errs = append(errs, fmt.Errorf("%s: %w", e.name, e.err))
			}
		default:
			return errors.Join(errs...)
		}
	}
}

var errUnexpected = errors.New("stopped unexpectedly")

func orUnexpected(err error) error {
	if err == nil {
		return errUnexpected
	}
	return err
}
