package admin

import (
	"context"
	"slices"
	"strconv"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/tenant"
)

// findWorkspace finds a live workspace by id or slug. An archived one comes together with
// fault.NotFound.
func findWorkspace(ctx context.Context, from resource.Reader, orgID, name string) (resource.Record, error) {
	r, err := resource.FindByName(ctx, from, tenant.WorkspaceKind, access.Target{OrgID: orgID}, name)
	if err == nil && r.Status == resource.Archived {
		return r, fault.New(fault.NotFound, "the workspace is archived")
	}
	return r, err
}

// namedWorkspaces finds the workspaces that the list "workspaces" of a body names by id or slug.
// A workspace that does not exist is the fault code missing, and a duplicate is
// fault.InvalidParameter with its id.
func namedWorkspaces(ctx context.Context, from resource.Reader, orgID string, names []string, missing fault.Code) ([]resource.Record, error) {
	workspaces := make([]resource.Record, 0, len(names))
	for i, name := range names {
		path := "workspaces[" + strconv.Itoa(i) + "].id"
		workspace, err := findWorkspace(ctx, from, orgID, name)
		if fault.Has(err, fault.NotFound) {
			return nil, fault.New(missing, "the workspace does not exist").WithParam(path)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(workspaces, func(p resource.Record) bool { return p.ID == workspace.ID }) {
			return nil, fault.New(fault.InvalidParameter, "duplicate workspace").WithParam(path)
		}
		workspaces = append(workspaces, workspace)
	}
	return workspaces, nil
}
