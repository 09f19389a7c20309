// Package credentials is the area of the credentials for upstream services: integrations,
// providers, virtual keys, secret references, and the models and prices that they offer. Start
// reading at Resources.
package credentials

import (
	"context"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/jobs"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/sealed"
	"sluice/internal/provider"
)

// Deps are the parts that the area uses; all are required.
type Deps struct {
	Box     *sealed.Sealer
	Guard   Guard
	Specs   Specs
	Models  Models
	Meters  budgets.Meters
	Budgets budgets.Limits
	Sweeper sweep.Sweeper
}

// Guard checks URLs that callers name: *netguard.Guard.
type Guard interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
	// TakesStoredKeys reports whether the operator allows stored credentials for the host and
	// port of a URL.
	TakesStoredKeys(raw string) bool
	// MayReceive reports whether a stored credential may be sent to a URL: to the origin of a URL
	// that is saved with it, or where TakesStoredKeys allows it.
	MayReceive(raw string, saved ...string) bool
}

// Specs looks up providers: *provider.Table.
type Specs interface {
	// Find returns the provider with an id or alias.
	Find(name string) (*provider.Spec, bool)
	// All lists the providers in the order of their ids. Callers must not change them.
	All() []*provider.Spec
}

// Handlers of the area, by subject.
type (
	integrations     struct{ Deps }
	models           struct{ Deps }
	providers        struct{ Deps }
	secretReferences struct{ Deps }
	sharing          struct{ Deps }
	specs            struct{ Deps }
	virtualKeys      struct{ Deps }
	scheduledJobs    struct{ Deps }
)

// Resources returns what the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{
		integrations{d}.integrations(),
		providers{d}.providers(),
		virtualKeys{d}.virtualKeys(),
		secretReferences{d}.secretReferences(),
		models{d}.modelConfigs(),
		models{d}.discovery(),
	}
}

// Jobs returns the scheduled jobs of the area.
func Jobs(d Deps) []jobs.Job {
	return []jobs.Job{{Name: "providers", Every: time.Minute, Run: scheduledJobs{d}.expireProviders}}
}

// Grants grants and withdraws integrations when workspaces come and go, for other areas.
type Grants struct{ Deps }

// Grant grants the integrations with global access to a new workspace.
func (k Grants) Grant(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return sharing(k).grantNew(ctx, tx, c, workspace)
}

// Withdraw removes a deleted workspace from the integrations of the organisation, with its
// limits and their usage.
func (k Grants) Withdraw(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return sharing(k).withdraw(ctx, tx, c, workspace)
}

// OpenAuth decrypts the credentials of a secret reference, for other areas.
func OpenAuth(d Deps, r *resource.Row[credential.SecretReference]) (map[string]string, error) {
	return secretReferences{d}.openAuth(r)
}
