package localadmin

import (
	"context"
	"errors"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// User is a user as the command line lists them.
type User struct {
	ID, Email, Role string
	Password        bool // they can sign in here with a password
}

// Users lists the users of all organisations, the oldest first, at most 1000.
func Users(ctx context.Context, from resource.Reader) (users []User, err error) {
	rows, err := from.List(ctx, resource.Query{Kind: tenant.UserKind, Statuses: []string{resource.Active}, Limit: 1000})
	if err != nil {
		return nil, err
	}
	for _, rec := range rows {
		u, err := resource.Decode[tenant.User](rec)
		if err != nil {
			return nil, err
		}
		n, err := from.Count(ctx, resource.Query{Kind: identity.LoginKind, OrgID: rec.OrgID, Index: []resource.IndexEntry{{Name: "user", Value: rec.ID}}})
		if err != nil {
			return nil, err
		}
		users = append(users, User{rec.ID, u.Value.Email, string(u.Value.Role), n > 0})
	}
	return users, nil
}

// Passwords replaces passwords of users.
type Passwords struct {
	Store resource.Store
	Trail resource.Trail // records who got a new password
	// Replace stores the hash of a user's new password and ends all their sessions.
	Replace func(ctx context.Context, tx resource.Tx, user resource.Record, hash string) error
}

// HashPassword returns the password to set and its hash. It generates an empty password, and
// rejects a weak one.
func HashPassword(ctx context.Context, password sealed.String) (chosen sealed.String, hash string, err error) {
	if password.Empty() {
		password = sealed.New(ident.NewSecret(18))
	}
	if err := identity.Check(password, "password"); err != nil {
		return password, "", err
	}
	hash, err = identity.NewPasswords().Hash(ctx, password)
	return password, hash, err
}

// Set replaces the password of a user, named by e-mail address or id, with one of the given hash,
// and records it in the audit trail. It returns fault.NotFound if the user does not exist.
func (p Passwords) Set(ctx context.Context, user, hash string) error {
	return p.Store.InTx(ctx, func(tx resource.Tx) error {
		u, err := findUser(ctx, tx, user)
		if err != nil {
			return err
		}
		return errors.Join(
			p.Replace(ctx, tx, u, hash),
			p.Trail.Audit(ctx, tx, resource.AuditRow{OrgID: u.OrgID, Kind: "auth", Action: "reset", TargetID: u.ID}),
		)
	})
}

// findUser finds an active user by id or e-mail address.
func findUser(ctx context.Context, from resource.Reader, name string) (resource.Record, error) {
	missing := fault.Newf(fault.NotFound, "unknown user %q; `sluice users list` lists all users", name)
	if ident.ValidID(name) {
		r, err := from.Find(ctx, tenant.UserKind, name)
		if fault.Has(err, fault.NotFound) || err == nil && r.Status != resource.Active {
			return r, missing
		}
		return r, err
	}
	rows, err := from.List(ctx, resource.Query{
		Kind: tenant.UserKind, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: "email", Value: strings.ToLower(name)}}, Limit: 2,
	})
	switch {
	case err != nil:
		return resource.Record{}, err
	case len(rows) == 0:
		return resource.Record{}, missing
	case len(rows) > 1:
		return resource.Record{}, fault.New(fault.Conflict, "several organisations have a user with this address; use the id of the user")
	}
	return rows[0], nil
}
