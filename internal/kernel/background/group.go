package background

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// service is work that runs as long as the program: run blocks until its context ends or it fails.
type service struct {
	name string
	run  func(ctx context.Context) error
}

// Group runs services together. When the first one returns, all are stopped, one after the other
// in reverse order of start, each with a deadline. So a service stops after those that depend on
// it. The zero value has no services; set Deadline before Run.
type Group struct {
	Deadline time.Duration // for each service to stop
	services []service
}

// Add adds a service; services start in the order in which they were added. run blocks until its
// context ends or it fails. Errors contain name, for example "journal". Add must not be called
// after Run.
func (g *Group) Add(name string, run func(context.Context) error) {
	g.services = append(g.services, service{name, run})
}

// Run starts all services and returns when all have ended, with their errors. A service that ends
// before ctx is an error that names it.
func (g *Group) Run(ctx context.Context) error {
	type ended struct {
		name string
		err  error
	}
	first := make(chan ended, len(g.services))
	stops := make([]context.CancelFunc, len(g.services))
	done := make([]chan struct{}, len(g.services))
	for i, p := range g.services {
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
	for i := len(g.services) - 1; i >= 0; i-- {
		stops[i]()
		select {
		case <-done[i]:
		case <-time.After(g.Deadline):
			errs = append(errs, fmt.Errorf("%s did not stop within %s", g.services[i].name, g.Deadline))
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
