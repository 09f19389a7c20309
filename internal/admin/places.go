package admin

import (
	"context"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// findWorkspace finds a living workspace by id or slug.
func findWorkspace(ctx context.Context, from resource.Reader, orgID, name string) (resource.Record, error) {
	r, err := resource.Look(ctx, from, tenant.WorkspaceKind, access.Target{OrgID: orgID}, name)
	if err == nil && r.Status == resource.Archived {
		return resource.Record{}, fault.New(fault.NotFound, "the workspace is archived")
	}
	return r, err
}
