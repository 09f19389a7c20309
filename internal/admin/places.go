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

// findWorkspace finds a living workspace by id or slug. An archived one comes together
// with fault.NotFound.
func findWorkspace(ctx context.Context, from resource.Reader, orgID, name string) (resource.Record, error) {
	r, err := resource.FindByName(ctx, from, tenant.WorkspaceKind, access.Target{OrgID: orgID}, name)
	if err == nil && r.Status == resource.Archived {
		return r, fault.New(fault.NotFound, "the workspace is archived")
	}
	return r, err
}

// namedWorkspaces finds the workspaces that the list "workspaces" of a body names by id
// or slug, each once. One that does not exist is the code missing, and one that is there
// twice fault.InvalidParameter, At its id.
func namedWorkspaces(ctx context.Context, from resource.Reader, orgID string, names []string, missing fault.Code) ([]resource.Record, error) {
	places := make([]resource.Record, 0, len(names))
	for i, name := range names {
		at := "workspaces[" + strconv.Itoa(i) + "].id"
		place, err := findWorkspace(ctx, from, orgID, name)
		if fault.Has(err, fault.NotFound) {
			return nil, fault.New(missing, "there is no such workspace").WithParam(at)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(places, func(p resource.Record) bool { return p.ID == place.ID }) {
			return nil, fault.New(fault.InvalidParameter, "the workspace is there twice").WithParam(at)
		}
		places = append(places, place)
	}
	return places, nil
}
