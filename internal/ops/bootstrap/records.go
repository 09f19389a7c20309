package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// FirstKeys are the raw values of the keys that a first start creates. They are shown once. The
// zero value means that nothing was created.
type FirstKeys struct {
	Admin     string // organisation-wide
	Workspace string // of the default workspace
}

// Deployment creates what an empty deployment needs: the organisation, its default workspace, an
// owner, one Admin key and one workspace service key.
// Source: contract/identity-and-governance.md section 1.
type Deployment struct {
	Store resource.Store
	Keys  KeyMaker // its clock is also that of the other records
	// UserIndex returns the index entries of a user of an organisation.
	UserIndex func(orgID string, u *tenant.User) []resource.IndexEntry
}

// Create creates the records in one transaction, and only if no organisation exists; otherwise it
// returns no keys. It generates the raw values of keys that are empty.
func (d Deployment) Create(ctx context.Context, adminKey, workspaceKey string) (FirstKeys, error) {
	if is, err := Exists(ctx, d.Store); err != nil || is {
		return FirstKeys{}, err
	}
	first := FirstKeys{Admin: adminKey, Workspace: workspaceKey}
	if first.Admin == "" {
		first.Admin = ident.NewKey(d.Keys.Prefix)
	}
	if first.Workspace == "" {
		first.Workspace = ident.NewKey(d.Keys.Prefix)
	}
	records, err := d.records(first)
	if err != nil {
		return FirstKeys{}, err
	}
	err = d.Store.InTx(ctx, func(tx resource.Tx) error {
		for _, r := range records {
			if err := tx.Insert(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if fault.Has(err, fault.Conflict) {
		return FirstKeys{}, nil // another instance created them first
	}
	if err != nil {
		return FirstKeys{}, fmt.Errorf("create the first organisation: %w", err)
	}
	return first, nil
}

// Exists reports whether a database has an organisation, so that a start is not the first.
func Exists(ctx context.Context, s resource.Store) (bool, error) {
	n := 0
	err := resource.ReadLatest(ctx, s, func(from resource.Reader) (err error) {
		n, err = from.Count(ctx, resource.Query{Kind: tenant.OrganisationKind})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("find an organisation: %w", err)
	}
	return n > 0, nil
}

// records returns the records of a new deployment, the organisation first.
func (d Deployment) records(first FirstKeys) ([]resource.Record, error) {
	org, workspaceID := ident.NewID(), ident.NewID()
	owner := tenant.User{Email: "owner@localhost", FirstName: "Owner", Role: access.Owner}
	var out []resource.Record
	for _, r := range []struct {
		record resource.Record
		body   any
	}{
		{resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "default", Name: "Default organisation"}, tenant.Organisation{Name: "Default organisation"}},
		{resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: ident.NewSlug("ws-shared"), Name: "Shared workspace"}, tenant.Workspace{Name: "Shared workspace", IsDefault: true}},
		{resource.Record{Kind: tenant.UserKind, ID: ident.NewID(), OrgID: org, Name: owner.Email, Index: d.UserIndex(org, &owner)}, owner},
	} {
		b, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		now := d.Keys.Now
		r.record.Body, r.record.Status, r.record.Version, r.record.Created, r.record.Updated = b, resource.Active, 1, now, now
		out = append(out, r.record)
	}
	admin, err := d.Keys.Make(first.Admin, "First Admin key", access.OrganisationService, org, "")
	if err != nil {
		return nil, err
	}
	service, err := d.Keys.Make(first.Workspace, "First workspace key", access.WorkspaceService, org, workspaceID)
	if err != nil {
		return nil, err
	}
	return append(out, admin, service), nil
}

// DefaultWorkspace finds the workspace that the first start created.
func DefaultWorkspace(ctx context.Context, r resource.Reader) (resource.Record, error) {
	rows, err := r.List(ctx, resource.Query{Kind: tenant.WorkspaceKind, Limit: 1000, Statuses: []string{resource.Active}})
	if err != nil {
		return resource.Record{}, err
	}
	for _, row := range rows {
		var w tenant.Workspace
		if json.Unmarshal(row.Body, &w) == nil && w.IsDefault {
			return row, nil
		}
	}
	return resource.Record{}, fault.New(fault.NotFound, "the default workspace does not exist")
}
