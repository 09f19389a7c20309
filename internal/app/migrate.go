package app

import (
	"context"

	"sluice/internal/app/options"
	"sluice/internal/fault"
	"sluice/internal/ops/hint"
)

// migrate updates the tables. If the writer is down in HADR mode the start continues: reads work,
// health reports it, and MigrateLater migrates later.
func (a *App) migrate(ctx context.Context) error {
	err := a.store.Migrate(ctx)
	if err != nil && a.set.Database.HADR && fault.Has(err, fault.ReadOnly) {
		a.log.Warn("database writer unavailable; skipped the schema check", "error", err.Error())
		a.services.Add("late migration", a.store.MigrateLater)
		return nil
	}
	if err == nil {
		err = a.store.CheckRights(ctx)
	}
	if err != nil {
		return hint.WithDatabase(options.Store(a.set), err)
	}
	return nil
}
