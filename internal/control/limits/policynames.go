package limits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// conditionKinds are the kinds of the records that the values of a condition name, by its key.
// Source: contract/identity-and-governance.yaml, enums.policy_keys.
var conditionKinds = map[quota.Key][]string{
	"api_key":      {keys.Kind},
	"workspace_id": {tenant.WorkspaceKind},
	"virtual_key":  {credential.ProviderKind, credential.VirtualKeyKind},
	"config":       {routing.SavedKind},
	"prompt":       {prompt.Kind},
}

// conditionTitles are the titles of these kinds for people.
var conditionTitles = map[quota.Key]string{
	"api_key": "API key", "workspace_id": "workspace", "virtual_key": "provider or virtual key", "config": "config", "prompt": "prompt",
	"organisation_id": "organisation",
}

// checkNamed rejects conditions that name a record that does not exist where the policy applies:
// fault.ReferenceMissing at the value. Values that the policy had before may stay.
func checkNamed(ctx context.Context, c *resource.Call, policy resource.Record, before, conditions []quota.Condition) error {
	for i, condition := range conditions {
		for field, values := range map[string]quota.Values{"value": condition.Value, "excludes": condition.Excludes} {
			for _, v := range values {
				if strings.HasSuffix(v, "*") || hadCondition(before, condition.Key, v) {
					continue
				}
				there, err := namesSomething(ctx, c, policy, condition.Key, v)
				if err != nil {
					return err
				}
				if !there {
					return fault.Newf(fault.ReferenceMissing, "the %s %q does not exist", conditionTitles[condition.Key], jsonfield.Clip(v, 64)).
						WithParam(fmt.Sprintf("conditions[%d].%s", i, field))
				}
			}
		}
	}
	return nil
}

func hadCondition(before []quota.Condition, key quota.Key, value string) bool {
	return slices.ContainsFunc(before, func(old quota.Condition) bool {
		return old.Key == key && (slices.Contains(old.Value, value) || slices.Contains(old.Excludes, value))
	})
}

// canName reports whether a policy may name a record: a record of its workspace, a workspace
// that the caller belongs to, or, for administrators of the organisation, a record of the
// organisation.
func canName(c *resource.Call, policy, r resource.Record) bool {
	switch {
	case r.Kind == tenant.WorkspaceKind:
		return c.Principal.BelongsTo(r.ID)
	case r.WorkspaceID == "":
		return c.Principal.IsOrgWide()
	}
	return r.WorkspaceID == policy.WorkspaceID
}

// namesSomething reports whether a value of a condition names something that exists. It is true
// for keys whose values do not name records.
func namesSomething(ctx context.Context, c *resource.Call, policy resource.Record, key quota.Key, value string) (bool, error) {
	if key == "organisation_id" {
		return value == policy.OrgID, nil
	}
	kinds, known := conditionKinds[key]
	if !known {
		return true, nil
	}
	for _, kind := range kinds {
		workspaceID := policy.WorkspaceID
		if kind == tenant.WorkspaceKind {
			workspaceID = ""
		}
		r, err := resource.FindByName(ctx, c.Reader, kind, resource.TargetOf(c, workspaceID), value)
		switch {
		case fault.Has(err, fault.NotFound):
			continue
		case err != nil:
			return false, err
		}
		if canName(c, policy, r) && r.Status != resource.Archived && r.OrgID == policy.OrgID {
			return true, nil
		}
	}
	return false, nil
}
