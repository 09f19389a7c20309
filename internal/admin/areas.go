package admin

import (
	"context"

	"sluice/internal/access"
	"sluice/internal/control/deployments"
	"sluice/internal/control/logs"
	"sluice/internal/control/upstreams"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// logDeps returns the dependencies of the area of the request log.
func (k deps) logDeps() logs.Deps {
	return logs.Deps{
		Box: k.Box, Clock: k.Clock, Log: k.Log,
		Logs: k.Logs, Analytics: k.Logs, Draining: k.Draining,
		Journal: k.Journal, BodyLogBytes: k.BodyLogBytes,
		Replay: k.Replay,
		MayEditKey: func(c *resource.Call, r *resource.Row[keys.Key]) bool {
			return c.May(apiKeyScopes("update", r), access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}) == nil
		},
		ConfigVersions: k.configTexts,
		Exports:        k.Exports, ExportRetention: k.ExportRetention, ConsoleURL: k.ConsoleURL,
		Rerate: k.Rerate, Providers: k.Specs,
		Audit: k.Audit, AuditSigner: k.AuditSigner,
	}
}

// configTexts returns the versions of a config's text for the log, newest first.
func (k deps) configTexts(ctx context.Context, from resource.Reader, id string) ([]logs.ConfigVersion, error) {
	versions, err := k.configVersions(ctx, from, id)
	out := make([]logs.ConfigVersion, len(versions))
	for i := range versions {
		out[i] = logs.ConfigVersion{ID: versions[i].id(), Began: versions[i].record.Updated}
	}
	return out, err
}

// upstreamDeps returns the dependencies of the area of tool servers and agents.
func (k deps) upstreamDeps() upstreams.Deps {
	return upstreams.Deps{
		SideData: k.SideData, Box: k.Box, Clock: k.Clock, Log: k.Log,
		Version: k.Version, ConsoleURL: k.ConsoleURL, MCPURL: k.MCPURL,
		Addresses: k.Guard, Outside: k.Outside,
		Secrets: k.Secrets, OpenReference: k.openAuth,
	}
}

// deploymentDeps returns the dependencies of the area of gateway deployments.
func (k deps) deploymentDeps() deployments.Deps {
	return deployments.Deps{
		SideData: k.SideData, Store: k.Store, Log: k.Log, Hasher: k.Hasher, KeyPrefix: k.KeyPrefix,
		Limits: k.Deployments, Addresses: k.Guard, Outside: k.Outside,
	}
}
