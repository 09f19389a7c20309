package defaults

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// ReferAnywhere finds a live record of the organisation in any workspace. If there is none, it
// returns fault.ReferenceMissing with the path of the field.
func ReferAnywhere(ctx context.Context, c *resource.Call, kind, name, path string) (*resource.Record, error) {
	r, err := resource.FindByName(ctx, c.Reader, kind, access.Target{OrgID: c.OrgID}, name)
	switch {
	case fault.Has(err, fault.NotFound) || err == nil && r.Status == resource.Archived:
		return nil, fault.Newf(fault.ReferenceMissing, "the %s does not exist", kind).WithParam(path)
	case err != nil:
		return nil, fault.From(err).WithParam(path)
	}
	return &r, nil
}

// ConfigRef returns the reference of a field that names a config of the workspace.
func ConfigRef[T any](field func(*T) string, path string, missing fault.Code) resource.Ref[T] {
	return resource.Ref[T]{Kind: "config", Find: func(ctx context.Context, c *resource.Call, r *resource.Row[T]) (*resource.Record, error) {
		name := field(&r.Value)
		if name == "" {
			return nil, nil
		}
		workspace := r.WorkspaceID
		if r.Kind == tenant.WorkspaceKind {
			workspace = r.ID
		}
		rec, err := c.Refer(ctx, "config", workspace, name, path)
		if workspace == "" { // an Admin key, which does not belong to a workspace
			rec, err = ReferAnywhere(ctx, c, routing.SavedKind, name, path)
		}
		if fault.Has(err, fault.ReferenceMissing) {
			return nil, fault.New(missing, "the workspace does not have this config").WithParam(path)
		}
		return rec, err
	}}
}
