package control

import (
	"slices"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/budgets"
	"sluice/internal/control/configs"
	"sluice/internal/control/credentials"
	"sluice/internal/control/deployments"
	"sluice/internal/control/limits"
	"sluice/internal/control/logs"
	"sluice/internal/control/people"
	"sluice/internal/control/prompts"
	"sluice/internal/control/resource"
	"sluice/internal/control/sidedata"
	"sluice/internal/control/sweep"
	"sluice/internal/control/upstreams"
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
	return slices.Concat(
		people.Resources(k.peopleDeps()),
		apikeys.Resources(k.apikeyDeps()),
		configs.Resources(k.configDeps()),
		credentials.Resources(k.credentialDeps()),
		limits.Resources(k.limitDeps()),
		logs.Resources(k.logDeps()),
		upstreams.Resources(k.upstreamDeps()),
		deployments.Resources(k.deploymentDeps()),
		prompts.Resources(prompts.Deps{Store: k.Store}),
	)
}
