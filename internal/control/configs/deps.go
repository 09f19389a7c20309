// Package configs is the area of what routes and checks requests: configs, guardrails, circuit
// breakers and the response cache. Start reading at Resources.
package configs

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/respcache"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Deps are the parts that the area uses. All are required unless the comment states otherwise.
type Deps struct {
	Box    *sealed.Sealer
	Guard  Guard
	Limits routing.Limits
	Checks *guardrail.Table // the checks that guardrails may name
	// Breakers returns the circuit breakers of the configs of a workspace.
	Breakers func(workspaceID string) []routing.BreakerState
	Cache    CachePurger // nil if the gateway has no response cache
	Trials   Trials      // nil if the gateway runs no guardrails
	Logs     Traffic     // for dry runs
	Clock    ident.Clock
}

// Guard checks URLs that callers name: *netguard.Guard.
type Guard interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
}

// CachePurger removes responses from the response cache. It is safe for concurrent use.
type CachePurger interface {
	// Purge removes what the filter selects on this node and returns the number of responses. After an error
	// some of them may remain.
	Purge(ctx context.Context, f *respcache.Filter) (int, error)
}

// Handlers of the area, by subject.
type (
	configs    struct{ Deps }
	guardrails struct{ Deps }
	breakers   struct{ Deps }
	// responseCache removes cached responses.
	responseCache struct{ Deps }
)

// Resources returns what the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	g := guardrails{d}
	return []resource.Resource{g.exclusions(), configs{d}.configs(), g.guardrails(), g.checks(), g.tests(), breakers{d}.breakers(), responseCache{d}.routes()}
}

// Versions returns the versions of a config, for other areas.
func Versions(ctx context.Context, d Deps, from resource.Reader, id string) ([]ConfigVersion, error) {
	return configs{d}.configVersions(ctx, from, id)
}
