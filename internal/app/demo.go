package app

import (
	"context"
	"time"

	"sluice/internal/control/credentials"
	"sluice/internal/control/logs"
	"sluice/internal/ops/demo"
	"sluice/internal/ops/demo/seed"
)

// DemoSlug is the slug of the scripted provider: "@demo" in calls.
const DemoSlug = seed.Slug

// startDemo serves the scripted provider on a loopback port and registers it in the default
// workspace.
func (a *App) startDemo(ctx context.Context) error {
	if !a.options.Demo {
		return nil
	}
	provider, err := demo.Listen(ctx, demo.Options{Gap: 40 * time.Millisecond})
	if err != nil {
		return err
	}
	a.services.Add("scripted provider", provider.Run)
	p := seed.Provider{Store: a.store, Box: a.box, Now: a.clock.Now(), Index: credentials.IntegrationIndex}
	return p.Register(ctx, provider.URL())
}

// demoTraffic returns the synthetic traffic of a demonstration.
func (a *App) demoTraffic() seed.Traffic {
	return seed.Traffic{
		Dir: a.set.Data.Dir, Days: a.options.SeedDays, Store: a.store, Keys: a.keyMaker(), FeedbackIndex: logs.FeedbackIndex,
		Journal: a.redactingJournal(), Prices: a.prices, Clock: a.clock, Log: a.log,
	}
}
