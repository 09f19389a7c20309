package directory

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// WorkspaceSlugs finds the slugs of workspaces and caches them.
type WorkspaceSlugs struct {
	From  resource.Reader
	Known map[string]string
}

// Find returns the slug of the workspace with an id, and remembers it.
func (p WorkspaceSlugs) Find(ctx context.Context, id string) (string, error) {
	if slug, ok := p.Known[id]; ok || id == "" {
		return slug, nil
	}
	r, err := p.From.Find(ctx, "workspace", id)
	if err != nil && !fault.Has(err, fault.NotFound) {
		return "", err
	}
	p.Known[id] = r.ShownSlug()
	return p.Known[id], nil
}

// FindWorkspaceIDs returns the ids of workspaces that a list names by id or slug, each once.
func FindWorkspaceIDs(ctx context.Context, c *resource.Call, names []string, field string) ([]string, error) {
	ids := make([]string, 0, len(names))
	for i, name := range names {
		workspace, err := FindWorkspace(ctx, c.Reader, c.OrgID, name)
		if fault.Has(err, fault.NotFound) {
			return nil, fault.New(fault.InvalidParameter, "the workspace does not exist").WithParam(fmt.Sprintf("%s[%d]", field, i))
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, workspace.ID) {
			ids = append(ids, workspace.ID)
		}
	}
	return ids, nil
}

// FindWorkspace finds a live workspace by id or slug. An archived one comes together with
// fault.NotFound.
func FindWorkspace(ctx context.Context, from resource.Reader, orgID, name string) (resource.Record, error) {
	r, err := resource.FindByName(ctx, from, tenant.WorkspaceKind, access.Target{OrgID: orgID}, name)
	if err == nil && r.Status == resource.Archived {
		return r, fault.New(fault.NotFound, "the workspace is archived")
	}
	return r, err
}

// NamedWorkspaces finds the workspaces that the list "workspaces" of a body names by id or slug.
// A workspace that does not exist is the fault code missing, and a duplicate is
// fault.InvalidParameter with its id.
func NamedWorkspaces(ctx context.Context, from resource.Reader, orgID string, names []string, missing fault.Code) ([]resource.Record, error) {
	workspaces := make([]resource.Record, 0, len(names))
	for i, name := range names {
		path := "workspaces[" + strconv.Itoa(i) + "].id"
		workspace, err := FindWorkspace(ctx, from, orgID, name)
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
