package app

import (
	"context"
	"errors"
	"net"
	"time"

	"sluice/internal/ops/hint"
)

func (a *App) openListener(ctx context.Context) (err error) {
	if a.server, err = a.newServer(a.newRouter()); err != nil {
		return err
	}
	if a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", a.set.Server.Address()); err != nil {
		return hint.Listener(err)
	}
	a.closers = append(a.closers, closerFunc(func() { _ = a.listener.Close() })) // an error means that Shutdown has closed it already
	return nil
}

// cutGrace is how long calls that outlast DRAIN_TIMEOUT may take to notify their callers. They
// may take the same time again to record their outcome.
const cutGrace = time.Second

// serve accepts requests until ctx ends or the listener fails, then lets the running ones
// finish.
func (a *App) serve(ctx context.Context) error {
	calls, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	failed := make(chan error, 1)
	go func() { failed <- a.server.Serve(calls, a.listener) }()
	a.log.Info("listening", "address", a.Addr(), "tls", a.set.TLS.Enabled())
	if !a.set.TLS.Enabled() && isReachable(a.listener.Addr()) {
		a.log.Warn("listening without TLS on an address that other machines can reach; keys and prompts are not encrypted unless a proxy adds TLS", "address", a.Addr())
	}
	var broken error
	select {
	case broken = <-failed: // Run returns it at the end
		a.log.Error("listener failed; shutting down")
	case <-ctx.Done():
		broken = a.awaitDrainDelay(failed)
	}
	a.leaving.Store(true)
	a.draining.Store(true)
	a.log.Info("draining", "open_requests", a.gateway.Open(), "responses_in_background", a.gateway.Background().Len())
	a.gateway.Abandoned().Cancel() // no caller waits for these calls
	return errors.Join(broken, a.drain(context.WithoutCancel(ctx), end))
}

// awaitDrainDelay continues to serve for DRAIN_DELAY, or until the listener fails; it returns
// that error. Meanwhile the health check reports "draining" and each connection closes after
// its response, so that callers go to other nodes.
func (a *App) awaitDrainDelay(failed <-chan error) error {
	delay := a.set.Server.DrainDelay
	if delay == 0 {
		return nil
	}
	a.leaving.Store(true)
	a.server.DrainConnections()
	a.log.Info("shutdown requested; accepting requests until DRAIN_DELAY has passed", "delay", delay, "open_requests", a.gateway.Open())
	select {
	case err := <-failed:
		return err
	case <-time.After(delay):
		return nil
	}
}

// drain lets running calls finish within DRAIN_TIMEOUT and then ends the others. It cuts the
// connections of callers that do not read the end of their response.
func (a *App) drain(ctx context.Context, end func()) error {
	delay := a.set.Server.DrainTimeout
	defer time.AfterFunc(delay, func() {
		a.log.Warn("closing requests still running after DRAIN_TIMEOUT", "open_requests", a.gateway.Open())
		a.gateway.Stop()
		end()
	}).Stop()
	ended, stop := context.WithTimeout(ctx, delay)
	defer stop()
	recorded, stop := context.WithTimeout(ctx, delay+2*cutGrace)
	defer stop()
	shutdownCtx, stop := context.WithTimeout(recorded, delay+cutGrace)
	defer stop()
	err := a.server.Shutdown(shutdownCtx)
	a.gateway.AwaitNone(recorded) // the server does not count WebSocket sessions
	a.gateway.AwaitBackground(ended)
	a.gateway.FinishAsyncHooks(ended)
	if err := a.admin.Await(recorded); err != nil {
		a.log.Warn("some rejected requests are missing from the audit log", "error", err.Error())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
