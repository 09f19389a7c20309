package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"sluice/internal/admin"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/identity"
	"sluice/internal/resource"
	"sluice/internal/sealed"
	"sluice/internal/tenant"
)

// User is a user as the command line lists them.
type User struct {
	ID, Email, Role string
	Password        bool // they can sign in here with a password
}

// Users lists the users of all organisations, the oldest first, at most 1000.
func Users(ctx context.Context, s config.Settings, log *slog.Logger) (users []User, err error) {
	return users, offline(ctx, s, log, func(a *App) error {
		rows, err := a.store.List(ctx, resource.Query{Kind: tenant.UserKind, Statuses: []string{active}, Limit: 1000})
		if err != nil {
			return err
		}
		for _, rec := range rows {
			u, err := resource.Decode[tenant.User](rec)
			if err != nil {
				return err
			}
			n, err := a.store.Count(ctx, resource.Query{Kind: identity.LoginKind, OrgID: rec.OrgID, Index: []resource.IndexEntry{{Name: "user", Value: rec.ID}}})
			if err != nil {
				return err
			}
			users = append(users, User{rec.ID, u.Value.Email, string(u.Value.Role), n > 0})
		}
		return nil
	})
}

// SetPassword replaces the password of a user, named by e-mail address or id, ends their
// sessions, and records it in the audit trail. With an empty password it generates one and
// returns it. It returns fault.NotFound if the user does not exist. It works while the gateway
// runs. In an empty deployment it first creates what a first start creates and calls founded, as
// described in Options.
func SetPassword(ctx context.Context, s config.Settings, log *slog.Logger, user string, password sealed.String, founded func(FirstKeys)) (sealed.String, error) {
	if password.Empty() {
		password = sealed.New(ident.NewSecret(18))
	}
	if err := identity.Check(password, "password"); err != nil {
		return password, err
	}
	hash, err := identity.NewPasswords().Hash(ctx, password)
	if err != nil {
		return password, err
	}
	return password, offline(ctx, s, log, func(a *App) error {
		a.founded = founded
		if err := a.foundDeployment(ctx); err != nil {
			return err
		}
		trail := resource.Trail{Off: !a.set.Features.AuditLogs, Clock: a.clock}
		return a.store.InTx(ctx, func(tx resource.Tx) error {
			u, err := findUser(ctx, tx, user)
			if err != nil {
				return err
			}
			return errors.Join(
				admin.SetPassword(ctx, tx, u, hash, a.clock.Now()),
				admin.EndSessions(ctx, tx, u.OrgID, u.ID, ""),
				trail.Audit(ctx, tx, resource.AuditRow{OrgID: u.OrgID, Kind: "auth", Action: "reset", TargetID: u.ID}),
			)
		})
	})
}

// findUser finds an active user by id or e-mail address.
func findUser(ctx context.Context, from resource.Reader, name string) (resource.Record, error) {
	missing := fault.Newf(fault.NotFound, "unknown user %q; `sluice users list` lists all users", name)
	if ident.ValidID(name) {
		r, err := from.Find(ctx, tenant.UserKind, name)
		if fault.Has(err, fault.NotFound) || err == nil && r.Status != active {
			return r, missing
		}
		return r, err
	}
	rows, err := from.List(ctx, resource.Query{
		Kind: tenant.UserKind, Statuses: []string{active}, Index: []resource.IndexEntry{{Name: "email", Value: strings.ToLower(name)}}, Limit: 2,
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
