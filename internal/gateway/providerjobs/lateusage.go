package providerjobs

import (
	"context"
	"math"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/tenant"
	"sluice/internal/limits/quota"
)

// countTokens subtracts the tokens of a finished job from the rates that apply to its caller. They
// count in the window in which the job is settled.
//
//nolint:contextcheck // the usage counts, whatever becomes of the round that found it
func (t *Jobs) countTokens(j *providerjob.Job, n int64) {
	if n <= 0 {
		return
	}
	dir := t.Snapshot()
	call := quota.Call{
		OrgID: j.OrgID, Workspace: quota.Named{ID: j.WorkspaceID}, KeyID: j.KeyID, Provider: j.Provider, Model: j.Model, Endpoint: j.Endpoint, Metadata: j.Metadata,
	}
	if p := dir.FindWorkspace(j.WorkspaceID); p != nil {
		call.Workspace.Slug = p.Slug
	}
	var all []quota.Hold
	if account := dir.FindAccount(j.WorkspaceID, j.ProviderID); j.ProviderID != "" && account != nil {
		call.Account = quota.Named{Slug: account.Slug, ID: account.RecordID}
		all = append(append(all, dir.IntegrationLimits(account.IntegrationID, j.WorkspaceID).Rates...), dir.Limits(account.Kind, account.RecordID).Rates...)
	}
	all = append(append(all, dir.Limits(tenant.WorkspaceKind, j.WorkspaceID).Rates...), dir.Limits(keys.Kind, j.KeyID).Rates...)
	_, all = dir.Policies(j.WorkspaceID).Match(&call, nil, all)
	holds, used := all[:0], []int64(nil)
	for _, h := range all {
		if h.Unit != "" && h.Measure == quota.TokenCount {
			h.Org, h.Amount, h.Limit, h.Soft = j.OrgID, 0, math.MaxInt64, true // used in any case, whatever is left
			holds, used = append(holds, h), append(used, n)
		}
	}
	if len(holds) == 0 {
		return
	}
	now := t.Clock.Now()
	if i, _, _, err := t.Limiter.Reserve(context.Background(), now, holds); err == nil && i < 0 {
		t.Limiter.Settle(now, holds, used)
	}
}
