package logs

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/tenant"
)

// Retention returns the retention settings in force, by workspace id, for every workspace
// that has some. They do not include the maximum of the deployment. Archived workspaces retain
// their settings.
func Retention(ctx context.Context, store resource.Store) (map[string]tenant.Retention, error) {
	sweeper := sweep.Sweeper{Store: store}
	orgs := map[string]*tenant.Organisation{}
	err := sweeper.Sweep(ctx, resource.Query{Kind: tenant.OrganisationKind}, func(r resource.Record) error {
		org, err := resource.Decode[tenant.Organisation](r)
		orgs[r.ID] = &org.Value
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read log retention: %w", err)
	}
	out := map[string]tenant.Retention{}
	err = sweeper.Sweep(ctx, resource.Query{Kind: tenant.WorkspaceKind, Statuses: []string{resource.Active, resource.Archived}}, func(r resource.Record) error {
		ws, err := resource.Decode[tenant.Workspace](r)
		if err != nil {
			return err
		}
		org := orgs[r.OrgID]
		if org == nil {
			org = &tenant.Organisation{}
		}
		if retention := org.SettingsOf(&ws.Value).LogRetention; retention != (tenant.Retention{}) {
			out[r.ID] = retention
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read log retention: %w", err)
	}
	return out, nil
}
