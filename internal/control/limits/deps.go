// Package limits is the area of policies: usage limits, rate limits, and dry runs of both. Start
// reading at Resources.
package limits

import (
	"context"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/jobs"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/record"
	"sluice/internal/provider"
)

// Deps are the parts that the area uses; all are required.
type Deps struct {
	Store  resource.Store
	Specs  Specs
	Logs   Logs
	Meters budgets.Meters
	// ConsoleURL is the public address of the console, without a trailing slash:
	// "https://gateway.example.com". Links in mails begin with it.
	ConsoleURL string
	Features   map[string]bool // deployment flags by name; a flag that is absent is on
	Budgets    budgets.Limits
	Sweeper    sweep.Sweeper
}

// Specs looks up providers: *provider.Table.
type Specs interface {
	// Find returns the provider with an id or alias.
	Find(name string) (*provider.Spec, bool)
}

// Logs is the part of the request log that dry runs read.
type Logs interface {
	List(ctx context.Context, q record.Query) (record.Page, error)
}

// Handlers of the area, by subject.
type (
	policies      struct{ Deps }
	usageLimits   struct{ Deps }
	rateLimits    struct{ Deps }
	dryRuns       struct{ Deps }
	scheduledJobs struct{ Deps }
	budgetJobs    struct{ Deps }
)

// Resources returns what the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{usageLimits{d}.usageLimits(), rateLimits{d}.rateLimits(), dryRuns{d}.policyDryRuns()}
}

// Jobs returns the scheduled jobs of the area.
func Jobs(d Deps) []jobs.Job {
	return []jobs.Job{{Name: "budgets", Every: 30 * time.Second, Run: scheduledJobs{d}.updateBudgets}}
}
