package admin

import (
	"sluice/internal/control/budgets"
	"sluice/internal/control/sidedata"
	"sluice/internal/control/sweep"
	"sluice/internal/resource"
)

// deps builds the definitions of the kinds from the parts that they need.
type deps struct {
	Parts
	tailConnections *tails
	Sweeper         sweep.Sweeper
	Budgets         budgets.Limits
	SideData        sidedata.Writer
}

func newDeps(p Parts) deps {
	return deps{
		Parts: p, tailConnections: new(tails),
		Sweeper:  sweep.Sweeper{Store: p.Store, Clock: p.Clock, Features: p.Features, Wake: p.Wake},
		Budgets:  budgets.Limits{Meters: p.Meters, Features: p.Features},
		SideData: sidedata.Writer{Store: p.Store, Log: p.Log},
	}
}

// list returns everything that the administration serves. To add a kind, add its line here.
func (k deps) list() []resource.Resource {
	return []resource.Resource{
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
		k.deployments(),
		k.callingDeployment(),
		k.mcpIntegrations(),
		k.mcpServers(),
		k.agentIntegrations(),
		k.cardFetcher(),
		k.agentServers(),
		k.collections(),
		k.labels(),
		k.prompts(),
		k.partials(),
		k.promptRender(),
		k.logs(),
		k.customLogs(),
		k.feedback(),
		k.telemetry(),
		k.logExports(),
		k.exportFiles(),
		k.analytics(),
		k.modelConfigs(),
		k.rerating(),
		k.breakers(),
		k.auditLogs(),
		k.outbox(),
		k.discovery(),
	}
}
