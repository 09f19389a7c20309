package admin

import (
	"slices"

	"sluice/internal/control/budgets"
	"sluice/internal/control/deployments"
	"sluice/internal/control/logs"
	"sluice/internal/control/prompts"
	"sluice/internal/control/sidedata"
	"sluice/internal/control/sweep"
	"sluice/internal/control/upstreams"
	"sluice/internal/resource"
)

// deps builds the definitions of the kinds from the parts that they need.
type deps struct {
	Parts
	Sweeper  sweep.Sweeper
	Budgets  budgets.Limits
	SideData sidedata.Writer
}

func newDeps(p Parts) deps {
	return deps{
		Parts:    p,
		Sweeper:  sweep.Sweeper{Store: p.Store, Clock: p.Clock, Features: p.Features, Wake: p.Wake},
		Budgets:  budgets.Limits{Meters: p.Meters, Features: p.Features},
		SideData: sidedata.Writer{Store: p.Store, Log: p.Log},
	}
}

// list returns everything that the administration serves. To add a kind, add its line here.
func (k deps) list() []resource.Resource {
	return slices.Concat([]resource.Resource{
		k.sessions(),
		k.organisation(),
		k.auth(),
		k.exclusions(),
		k.workspaces(),
		k.members(),
		k.users(),
		k.invites(),
		k.apiKeys(),
		k.configs(),
		k.integrations(),
		k.providers(),
		k.virtualKeys(),
		k.usageLimits(),
		k.rateLimits(),
		k.policyDryRuns(),
		k.guardrails(),
		k.secretReferences(),
		k.modelConfigs(),
		k.breakers(),
		k.outbox(),
		k.discovery(),
	},
		logs.Resources(k.logDeps()),
		upstreams.Resources(k.upstreamDeps()),
		deployments.Resources(k.deploymentDeps()),
		prompts.Resources(prompts.Deps{Store: k.Store}),
	)
}
