package admin

import "sluice/internal/resource"

// deps builds the definitions of the kinds from the parts that they need.
type deps struct {
	Parts
	tailConnections *tails
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
