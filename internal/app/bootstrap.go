package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/access"
	"sluice/internal/admin"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/keys"
	"sluice/internal/resource"
	"sluice/internal/sealed"
	"sluice/internal/tenant"
)

// FirstKeys are the raw values of the keys that a first start creates. They are shown once. The
// zero value means that nothing was created.
type FirstKeys struct {
	Admin     string // organisation-wide
	Workspace string // of the default workspace
}

// bootstrapper creates what an empty deployment needs: the organisation, its default workspace,
// an owner, one Admin key and one workspace service key.
// Source: contract/identity-and-governance.md section 1.
type bootstrapper struct {
	store  resource.Store
	box    *sealed.Sealer
	hasher *keys.Hasher
	now    time.Time
	prefix string // API_KEY_PREFIX
}

// found creates the records in one transaction, and only if no organisation exists.
func (f *bootstrapper) found(ctx context.Context, adminKey, workspaceKey string) (FirstKeys, error) {
	if is, err := founded(ctx, f.store); err != nil || is {
		return FirstKeys{}, err
	}
	first := FirstKeys{Admin: adminKey, Workspace: workspaceKey}
	if first.Admin == "" {
		first.Admin = ident.NewKey(f.prefix)
	}
	if first.Workspace == "" {
		first.Workspace = ident.NewKey(f.prefix)
	}
	records, err := f.records(first)
	if err != nil {
		return FirstKeys{}, err
	}
	err = f.store.InTx(ctx, func(tx resource.Tx) error {
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

// founded reports whether a database has an organisation.
func founded(ctx context.Context, s resource.Store) (bool, error) {
	n := 0
	err := readFromWriter(ctx, s, func(from resource.Reader) (err error) {
		n, err = from.Count(ctx, resource.Query{Kind: tenant.OrganisationKind})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("find an organisation: %w", err)
	}
	return n > 0, nil
}

// narrow restricts a key to fewer scopes than its type allows.
func narrow(r *resource.Record, scopes []string) error {
	var k keys.Key
	return inBody(r, &k, func() error { k.Scopes = scopes; return nil })
}

func (f *bootstrapper) records(first FirstKeys) ([]resource.Record, error) {
	org, workspaceID := ident.NewID(), ident.NewID()
	out := make([]resource.Record, 0, 5)
	add := func(r resource.Record, body any) error {
		b, err := json.Marshal(body)
		r.Body, r.Status, r.Version, r.Created, r.Updated = b, active, 1, f.now, f.now
		out = append(out, r)
		return err
	}
	err := add(resource.Record{Kind: tenant.OrganisationKind, ID: org, Slug: "default", Name: "Default organisation"},
		tenant.Organisation{Name: "Default organisation"})
	if err != nil {
		return nil, err
	}
	err = add(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: ident.NewSlug("ws-shared"), Name: "Shared workspace"},
		tenant.Workspace{Name: "Shared workspace", IsDefault: true})
	if err != nil {
		return nil, err
	}
	err = add(resource.Record{Kind: tenant.UserKind, ID: ident.NewID(), OrgID: org, Name: "owner@localhost", Index: admin.UserIndex(org, &tenant.User{Email: "owner@localhost", Role: access.Owner})},
		tenant.User{Email: "owner@localhost", FirstName: "Owner", Role: access.Owner})
	if err != nil {
		return nil, err
	}
	admin, err := f.key(first.Admin, "First Admin key", access.OrganisationService, org, "")
	if err != nil {
		return nil, err
	}
	service, err := f.key(first.Workspace, "First workspace key", access.WorkspaceService, org, workspaceID)
	if err != nil {
		return nil, err
	}
	return append(out, admin, service), nil
}

// key returns the record of a key with all scopes of its type.
func (f *bootstrapper) key(raw, name string, t access.KeyType, org, workspaceID string) (resource.Record, error) {
	return f.keyWithID(ident.NewID(), raw, name, t, org, workspaceID)
}

func (f *bootstrapper) keyWithID(id, raw, name string, t access.KeyType, org, workspaceID string) (resource.Record, error) {
	shut, err := f.box.Seal([]byte(raw), keys.Context(id))
	if err != nil {
		return resource.Record{}, err
	}
	k := keys.Key{
		Name: name, Type: t, Scopes: access.Allowed(t), CreationMode: "auto",
		Secret: keys.Secret{Hash: f.hasher.Sum(raw), Sealed: shut, Masked: keys.Mask(raw)},
	}
	body, err := json.Marshal(k)
	if err != nil {
		return resource.Record{}, err
	}
	return resource.Record{
		Kind: keys.Kind, ID: id, OrgID: org, WorkspaceID: workspaceID, Name: name, Status: active, Version: 1,
		Created: f.now, Updated: f.now, Body: body, Index: admin.KeyIndex(&k),
	}, nil
}
