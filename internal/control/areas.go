package control

import (
	"context"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/configs"
	"sluice/internal/control/credentials"
	"sluice/internal/control/deployments"
	"sluice/internal/control/limits"
	"sluice/internal/control/logs"
	"sluice/internal/control/people"
	"sluice/internal/control/prompts"
	"sluice/internal/control/resource"
	"sluice/internal/control/upstreams"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
)

// logDeps returns the dependencies of the area of the request log.
func (k deps) logDeps() logs.Deps {
	return logs.Deps{
		Box: k.Box, Clock: k.Clock, Log: k.Log,
		Logs: k.RequestLog.Logs, Analytics: k.RequestLog.Logs, Draining: k.RequestLog.Draining,
		Journal: k.RequestLog.Journal, BodyLogBytes: k.RequestLog.MaxBodyBytes,
		Replay: k.RequestLog.Replay,
		MayEditKey: func(c *resource.Call, r *resource.Row[keys.Key]) bool {
			return c.May(apikeys.Scopes("update", r), access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) == nil
		},
		ConfigVersions: k.configTexts,
		Exports:        k.RequestLog.Exports, ExportRetention: k.RequestLog.ExportRetention, ConsoleURL: k.ConsoleURL,
		Rerate: k.RequestLog.Rerate, Providers: k.Specs,
		Audit: k.Audit.Trail, AuditSigner: k.Audit.Signer,
	}
}

// configTexts returns the versions of a config's text for the log, newest first.
func (k deps) configTexts(ctx context.Context, from resource.Reader, id string) ([]logs.ConfigVersion, error) {
	versions, err := configs.Versions(ctx, k.configDeps(), from, id)
	out := make([]logs.ConfigVersion, len(versions))
	for i := range versions {
		out[i] = logs.ConfigVersion{ID: versions[i].ID(), Began: versions[i].Record.Updated}
	}
	return out, err
}

// upstreamDeps returns the dependencies of the area of tool servers and agents.
func (k deps) upstreamDeps() upstreams.Deps {
	return upstreams.Deps{
		SideData: k.SideData, Box: k.Box, Clock: k.Clock, Log: k.Log,
		Version: k.Version, ConsoleURL: k.ConsoleURL, MCPURL: k.MCPURL,
		Addresses: k.Guard, Outside: k.Outside,
		Secrets: k.Secrets, OpenReference: func(r *resource.Row[credential.SecretReference]) (map[string]string, error) {
			return credentials.OpenAuth(k.credentialDeps(), r)
		},
	}
}

// deploymentDeps returns the dependencies of the area of gateway deployments.
func (k deps) deploymentDeps() deployments.Deps {
	return deployments.Deps{
		SideData: k.SideData, Store: k.Store, Log: k.Log, Hasher: k.Hasher, KeyPrefix: k.KeyPrefix,
		Limits: k.Deployments, Addresses: k.Guard, Outside: k.Outside,
	}
}

// peopleDeps returns the dependencies of the area of organisations, users and workspaces.
func (k deps) peopleDeps() people.Deps {
	return people.Deps{
		Store: k.Store, Box: k.Box, Hasher: k.Hasher, Log: k.Log, Guard: k.Guard, ConsoleURL: k.ConsoleURL, LocalLogin: k.SignIn.Local,
		Passwords: k.SignIn.Passwords, Throttle: k.SignIn.Throttle, Invites: k.SignIn.Invites, Features: k.Features, LogRetention: k.RequestLog.Retention,
		RetentionShown: k.RequestLog.RetentionShown, Proxies: k.Requests.Proxies, Mail: k.Mail.Sender, Templates: k.Mail.Templates, Budgets: k.Budgets, Sweeper: k.Sweeper,
		UserKeys: apikeys.UserKeys{Deps: k.apikeyDeps()}, Integrations: integrationGrants{k}, DefaultCollection: prompts.EnsureDefaultCollection,
	}
}

// apikeyDeps returns the dependencies of the area of API keys.
func (k deps) apikeyDeps() apikeys.Deps {
	return apikeys.Deps{Box: k.Box, Hasher: k.Hasher, KeyPrefix: k.KeyPrefix, Budgets: k.Budgets, Sweeper: k.Sweeper}
}

// configDeps returns the dependencies of the area of configs and guardrails.
func (k deps) configDeps() configs.Deps {
	return configs.Deps{
		Box: k.Box, Guard: k.Guard, Limits: k.Configs.Limits, Checks: k.Checks, Breakers: k.Configs.Breakers, Cache: k.Configs.CachePurger,
		Trials: k.Configs.Trials, Logs: k.RequestLog.Logs, Clock: k.Clock,
	}
}

// credentialDeps returns the dependencies of the area of integrations, providers and models.
func (k deps) credentialDeps() credentials.Deps {
	return credentials.Deps{Box: k.Box, Guard: k.Guard, Specs: k.Specs, Models: k.Models, Meters: k.Meters, Budgets: k.Budgets, Sweeper: k.Sweeper}
}

// limitDeps returns the dependencies of the area of budgets and rate limits.
func (k deps) limitDeps() limits.Deps {
	return limits.Deps{
		Store: k.Store, Specs: k.Specs, Logs: k.RequestLog.Logs, Meters: k.Meters, ConsoleURL: k.ConsoleURL, Features: k.Features, Budgets: k.Budgets, Sweeper: k.Sweeper,
	}
}

// integrationGrants grants the integrations of all areas to workspaces.
type integrationGrants struct{ k deps }

// GrantAll grants everything with global access to a new workspace.
func (g integrationGrants) GrantAll(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	if err := (credentials.Grants{Deps: g.k.credentialDeps()}).Grant(ctx, tx, c, workspace); err != nil {
		return err
	}
	return upstreams.GrantNew(ctx, g.k.upstreamDeps(), tx, c, workspace)
}

// WithdrawAll removes a deleted workspace from the integrations of model providers.
func (g integrationGrants) WithdrawAll(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error {
	return credentials.Grants{Deps: g.k.credentialDeps()}.Withdraw(ctx, tx, c, workspace)
}
