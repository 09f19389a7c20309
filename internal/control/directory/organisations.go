package directory

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/tenant"
)

// FindOrganisation reads the caller's organisation.
func FindOrganisation(ctx context.Context, c *resource.Call) (*resource.Row[tenant.Organisation], error) {
	return resource.Shared(c, "organisation", func() (*resource.Row[tenant.Organisation], error) {
		return resource.FindLive[tenant.Organisation](ctx, c.Reader, tenant.OrganisationKind, c.OrgID)
	})
}

// OrganisationName returns the name of an organisation for mails.
func OrganisationName(ctx context.Context, from resource.Reader, orgID string) (string, error) {
	org, err := resource.FindLive[tenant.Organisation](ctx, from, tenant.OrganisationKind, orgID)
	if err != nil {
		return "", err
	}
	return org.Value.Name, nil
}

// SettingsOf returns the settings in force in a workspace.
func SettingsOf(ctx context.Context, from resource.Reader, workspace resource.Record) (tenant.Settings, error) {
	org, err := resource.FindLive[tenant.Organisation](ctx, from, tenant.OrganisationKind, workspace.OrgID)
	if err != nil {
		return tenant.Settings{}, err
	}
	ws, err := resource.Decode[tenant.Workspace](workspace)
	if err != nil {
		return tenant.Settings{}, err
	}
	return org.Value.SettingsOf(&ws.Value), nil
}

// SourceOf returns how a record was created: "ui" by a user, "api" by a key.
func SourceOf(c *resource.Call) string {
	if c.Principal.KeyType == "" {
		return "ui"
	}
	return "api"
}

// ChangeOrganisation applies edit to the caller's organisation and stores it.
func ChangeOrganisation(ctx context.Context, c *resource.Call, edit func(*tenant.Organisation) error) error {
	return c.Change(ctx, func(tx resource.Tx) error {
		row, err := FindOrganisation(ctx, c)
		if err != nil {
			return err
		}
		if err := c.Unchanged(row.Record); err != nil {
			return err
		}
		if err := edit(&row.Value); err != nil {
			return err
		}
		rec := row.Record
		rec.Name, rec.Body, rec.Updated = row.Value.Name, jsonfield.Encode(row.Value), c.Now
		c.Target(rec)
		return tx.Update(ctx, rec)
	})
}
