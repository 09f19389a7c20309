// Package localadmin administers a deployment from the command line, directly in its database and
// while the gateway may be running: it creates keys, sets passwords and exports the audit trail.
package localadmin

import (
	"context"
	"encoding/json"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/ops/bootstrap"
)

// NewKey describes a key to create from the command line.
type NewKey struct {
	Name      string
	Type      string   // organisation-service or workspace-service
	Workspace string   // slug; empty means the default workspace
	Scopes    []string // empty means all scopes that the type allows
}

// Check rejects invalid fields. Call it before anything is created.
func (n NewKey) Check() error {
	if strings.TrimSpace(n.Name) == "" {
		return fault.New(fault.InvalidParameter, "name is required; set --name").WithParam("name")
	}
	t := access.KeyType(n.Type)
	for _, s := range n.Scopes {
		may, known := access.MayHold(t, s)
		switch {
		case !known:
			return fault.Newf(fault.InvalidParameter, "unknown scope %q; keys of type %s support: %s", s, t, strings.Join(access.Allowed(t), ", ")).WithParam("scopes")
		case !may:
			return fault.Newf(fault.InvalidParameter, "keys of type %s do not support the scope %q; supported: %s", t, s, strings.Join(access.Allowed(t), ", ")).WithParam("scopes")
		}
	}
	return nil
}

// Create stores the key with the raw value raw, which is not stored in clear text. maker makes its
// record.
func (n NewKey) Create(ctx context.Context, s resource.Store, maker bootstrap.KeyMaker, raw string) error {
	var workspace resource.Record
	err := resource.ReadLatest(ctx, s, func(from resource.Reader) (err error) {
		workspace, err = findWorkspace(ctx, from, n.Workspace)
		return err
	})
	if err != nil {
		return err
	}
	r, err := maker.Make(raw, n.Name, access.KeyType(n.Type), workspace.OrgID, workspaceIDFor(n, workspace))
	if err != nil {
		return err
	}
	if len(n.Scopes) > 0 {
		if err := setScopes(&r, n.Scopes); err != nil {
			return err
		}
	}
	return s.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, r) })
}

// setScopes restricts a key to fewer scopes than its type allows.
func setScopes(r *resource.Record, scopes []string) error {
	var k keys.Key
	if err := json.Unmarshal(r.Body, &k); err != nil {
		return err
	}
	k.Scopes = scopes
	body, err := json.Marshal(k)
	r.Body = body
	return err
}

func workspaceIDFor(n NewKey, workspace resource.Record) string {
	if access.KeyType(n.Type) == access.OrganisationService {
		return ""
	}
	return workspace.ID
}

func findWorkspace(ctx context.Context, r resource.Reader, slug string) (resource.Record, error) {
	if slug == "" {
		return bootstrap.DefaultWorkspace(ctx, r)
	}
	orgs, err := r.List(ctx, resource.Query{Kind: tenant.OrganisationKind, Limit: 1000})
	if err != nil {
		return resource.Record{}, err
	}
	for _, o := range orgs {
		w, err := r.FindSlug(ctx, tenant.WorkspaceKind, o.ID, slug)
		if !fault.Has(err, fault.NotFound) {
			return w, err
		}
	}
	return resource.Record{}, fault.Newf(fault.NotFound, "workspace %q does not exist", slug)
}
