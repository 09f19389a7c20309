package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"sluice/internal/control/budgets"
	"sluice/internal/domain/credential"
	"sluice/internal/limits/quota"
)

// sentLimits are the limits in a body for a workspace or for global access.
type sentLimits struct {
	path           string          // path of their fields: "workspaces[0]."
	budgets, rates json.RawMessage // nil for what was not sent
}

func (s sentLimits) any() bool { return s.budgets != nil || s.rates != nil }

// mergeLimits merges the limits that were sent into the present ones; limits that were not sent
// do not change.
func (g *grantEditor) mergeLimits(hold credential.WorkspaceLimits, s sentLimits) (credential.WorkspaceLimits, error) {
	if s.rates != nil {
		rates, err := budgets.ReadRates(s.rates, s.path+"rate_limits", 1)
		if err != nil {
			return hold, err
		}
		hold.RateLimits = rates
	}
	if s.budgets == nil {
		return hold, nil
	}
	before, err := budgets.Decode(hold.UsageLimits)
	if err != nil {
		return hold, err
	}
	rules := quota.Rules{Field: s.path + "usage_limits", MaxItems: 1, MinTokens: quota.MinTokens()}
	list, err := g.k.Budgets.ReadBudgets(g.c, s.budgets, rules, before)
	hold.UsageLimits = budgets.Encode(list, true)
	return hold, err
}

// limit sets the limits of a workspace and updates its meters. A workspace without the
// integration has no meter; one that gets it now starts at zero.
func (g *grantEditor) limit(ctx context.Context, workspaceID string, limits credential.WorkspaceLimits, now, reset bool) error {
	integration := &g.integration.Value
	old := integration.Limits[workspaceID]
	if delete(integration.Limits, workspaceID); !limits.IsZero() {
		if integration.Limits == nil {
			integration.Limits = make(map[string]credential.WorkspaceLimits)
		}
		integration.Limits[workspaceID] = limits
	}
	subject := quota.Subject{Kind: quota.IntegrationWorkspace, ID: g.integration.ID, OrgID: g.integration.OrgID, WorkspaceID: workspaceID}
	if !g.present[workspaceID].Enabled {
		return g.k.Meters.DropMeters(ctx, g.tx, subject.ID, subject.WorkspaceID)
	}
	before, err := budgets.Decode(old.UsageLimits)
	if err != nil {
		return err
	}
	after, err := budgets.Decode(limits.UsageLimits)
	if err != nil {
		return err
	}
	ch := budgets.Change{Before: before, After: after, Sent: now || !bytes.Equal(old.UsageLimits, limits.UsageLimits), Reset: reset}
	if ch.None() {
		return nil
	}
	if g.meters == nil { // all at once, in the lock order of the code that adds usage
		if g.meters, err = g.k.Budgets.MetersOf(ctx, g.tx, quota.Subject{ID: g.integration.ID}); err != nil {
			return err
		}
	}
	return g.k.Budgets.Sync(ctx, g.tx, g.c.Now, subject, ch, g.meters)
}

// follow applies the limits of global access to the workspaces without their own limits. Each
// gets a separately counted budget.
func (g *grantEditor) follow(ctx context.Context) error {
	global := g.integration.Value.GlobalLimits
	for _, workspaceID := range slices.Sorted(maps.Keys(g.present)) {
		one, held := g.present[workspaceID], g.integration.Value.Limits[workspaceID]
		if !one.Global || !one.Enabled || global.IsZero() && held.IsZero() {
			continue
		}
		before, err := budgets.Decode(held.UsageLimits)
		if err != nil {
			return err
		}
		list, err := budgets.Decode(global.UsageLimits)
		if err != nil {
			return err
		}
		quota.InheritIDs(list, before)
		limits := credential.WorkspaceLimits{UsageLimits: budgets.Encode(list, true), RateLimits: global.RateLimits}
		if err := g.limit(ctx, workspaceID, limits, false, false); err != nil {
			return err
		}
	}
	return nil
}
