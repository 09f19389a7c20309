package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sluice/internal/control/credentials"
	"time"

	"sluice/internal/control/logs"
	"sluice/internal/demo"
	"sluice/internal/ops/demo/seed"
)

// DemoSlug is the slug of the scripted provider: "@demo" in calls.
const DemoSlug = seed.Slug

// startDemo serves the scripted provider on a loopback port and registers it in the default
// workspace.
func (a *App) startDemo(ctx context.Context) error {
	if !a.demo {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the scripted provider: %w", err)
	}
	srv := &http.Server{Handler: demo.New(demo.Options{Gap: 40 * time.Millisecond}), ReadHeaderTimeout: 10 * time.Second}
	a.services.Add("scripted provider", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	})
	p := seed.Provider{Store: a.store, Box: a.box, Now: a.clock.Now(), Index: credentials.IntegrationIndex}
	return p.Register(ctx, "http://"+l.Addr().String()+"/v1")
}

// trustedHosts returns the trusted hosts of the settings, and the scripted provider.
func (a *App) trustedHosts() []string {
	if !a.demo {
		return a.set.Security.TrustedCustomHosts
	}
	return append([]string{"127.0.0.1"}, a.set.Security.TrustedCustomHosts...)
}

// demoTraffic returns the synthetic traffic of a demonstration.
func (a *App) demoTraffic() seed.Traffic {
	return seed.Traffic{
		Dir: a.set.Data.Dir, Days: a.seedDays, Store: a.store, Keys: a.keyMaker(), FeedbackIndex: logs.FeedbackIndex,
		Journal: a.redactingJournal(), Prices: a.prices, Clock: a.clock, Log: a.log,
	}
}
