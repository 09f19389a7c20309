package apikeys

import (
	"context"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/expiry"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/limits/quota"
)

// apiKeyIn is the body of a creation.
type apiKeyIn struct {
	jsonfield.OwnerIn
	Name        string                                `json:"name" minLength:"1" maxLength:"255"`
	Description *string                               `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Scopes      []string                              `json:"scopes" nullable:"false" minItems:"1" maxItems:"200" doc:"Scopes of the key, for example completions.write"`
	UserID      string                                `json:"user_id,omitempty" format:"uuid" doc:"Id of the user of a user key"`
	Defaults    *jsonfield.Nullable[keyDefaultsIn]    `json:"defaults,omitempty" nullable:"true" doc:"Defaults for every request made with the key; stored without effect on Admin keys, which cannot send model traffic"`
	AlertEmails []string                              `json:"alert_emails,omitempty" nullable:"true" format:"email" maxItems:"50"`
	ExpiresAt   *time.Time                            `json:"expires_at,omitempty" nullable:"true" doc:"Time in the future; null for never"`
	Rotation    *jsonfield.Nullable[rotationPolicyIn] `json:"rotation_policy,omitempty" nullable:"true" doc:"Automatic rotation of the key; null for never"`
	UsageLimits *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true"`
	RateLimits  []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8" doc:"Rate limits; stored without effect on Admin keys, which cannot send model traffic"`
}

// apiKeyPatch is the body of an update.
type apiKeyPatch struct {
	Name        string                                `json:"name,omitempty" minLength:"1" maxLength:"255"`
	Description *string                               `json:"description,omitempty" nullable:"true" maxLength:"1024"`
	Scopes      []string                              `json:"scopes,omitempty" nullable:"false" minItems:"1" maxItems:"200"`
	Defaults    *jsonfield.Nullable[keyDefaultsIn]    `json:"defaults,omitempty" nullable:"true"`
	AlertEmails []string                              `json:"alert_emails,omitempty" nullable:"true" format:"email" maxItems:"50"`
	ExpiresAt   *time.Time                            `json:"expires_at,omitempty" nullable:"true"`
	WorkspaceID string                                `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Rotation    *jsonfield.Nullable[rotationPolicyIn] `json:"rotation_policy,omitempty" nullable:"true" doc:"Replaces the present policy; null removes it"`
	UsageLimits *jsonfield.Nullable[budgets.BudgetIn] `json:"usage_limits,omitempty" nullable:"true" doc:"Replaces the limit; null removes it"`
	RateLimits  []budgets.RateIn                      `json:"rate_limits,omitempty" nullable:"true" maxItems:"8" doc:"Replaces the whole list"`
	ResetUsage  bool                                  `json:"reset_usage,omitempty" writeOnly:"true" doc:"Sets the usage of all limits to zero"`
}

type keyDefaultsIn struct {
	Metadata            map[string]string `json:"metadata,omitempty" nullable:"true"`
	ConfigID            *string           `json:"config_id,omitempty" nullable:"true" maxLength:"255" doc:"Slug or id of a config of the workspace"`
	AllowConfigOverride *bool             `json:"allow_config_override,omitempty" nullable:"true" doc:"Whether a request may send its own config; absent means yes"`
}

// keyReceipt is a response that shows a raw key. No other response does.
type keyReceipt struct {
	ID     string `json:"id" format:"uuid"`
	Key    string `json:"key" doc:"Raw key; returned only once"`
	Object string `json:"object" enum:"api-key"`
}

// apiKeyView is a key as clients see it.
type apiKeyView struct {
	ID                     string                                 `json:"id" format:"uuid"`
	Key                    string                                 `json:"key,omitempty" doc:"Masked key: the first two and last three characters; unmasked in a session of the key's user"`
	Name                   string                                 `json:"name"`
	Description            *string                                `json:"description" nullable:"true"`
	Type                   access.KeyType                         `json:"type" enum:"organisation-service,workspace-service,workspace-user"`
	OrganisationID         string                                 `json:"organisation_id" format:"uuid"`
	WorkspaceID            *string                                `json:"workspace_id" nullable:"true"`
	UserID                 *string                                `json:"user_id" nullable:"true"`
	Status                 string                                 `json:"status" enum:"active,exhausted,expired"`
	CreatedAt              resource.Stamp                         `json:"created_at"`
	LastUpdatedAt          resource.Stamp                         `json:"last_updated_at"`
	CreationMode           string                                 `json:"creation_mode" enum:"ui,api,auto"`
	RateLimits             []quota.Rate                           `json:"rate_limits" nullable:"false"`
	UsageLimits            jsonfield.Nullable[budgets.BudgetView] `json:"usage_limits"`
	ResetUsage             *float64                               `json:"reset_usage" nullable:"true"`
	LastResetAt            *resource.Stamp                        `json:"last_reset_at" nullable:"true"`
	NextUsageResetAt       *resource.Stamp                        `json:"next_usage_reset_at,omitempty" doc:"Only in the response for a single key"`
	ExpiresAt              *resource.Stamp                        `json:"expires_at" nullable:"true"`
	ExpiryEnforced         int                                    `json:"expiry_enforced" enum:"0,1"`
	AlertEmails            []string                               `json:"alert_emails" nullable:"true"`
	Scopes                 []string                               `json:"scopes" nullable:"false"`
	Defaults               keyDefaultsView                        `json:"defaults"`
	AllowConfigOverride    int                                    `json:"allow_config_override" enum:"0,1"`
	RotationPolicy         jsonfield.Nullable[rotationPolicyView] `json:"rotation_policy"`
	LastRotatedAt          *resource.Stamp                        `json:"last_rotated_at" nullable:"true"`
	KeyTransitionExpiresAt *resource.Stamp                        `json:"key_transition_expires_at" nullable:"true" doc:"Time until which the value before the rotation stays valid"`
	Object                 string                                 `json:"object" enum:"api-key"`
}

type keyDefaultsView struct {
	Metadata            map[string]string `json:"metadata"`
	ConfigID            *string           `json:"config_id" nullable:"true"`
	AllowConfigOverride bool              `json:"allow_config_override"`
}

func (ks apiKeys) viewKey(ctx context.Context, c *resource.Call, r resource.Row[keys.Key], detail bool) (apiKeyView, error) {
	k := r.Value
	v := apiKeyView{
		ID: r.ID, Key: k.Secret.Masked, Name: k.Name, Description: jsonfield.OrNull(k.Description), Type: k.Type,
		OrganisationID: r.OrgID, WorkspaceID: jsonfield.OrNull(r.WorkspaceID), UserID: jsonfield.OrNull(k.UserID), Status: expiry.StatusAt(r.Status, k.ExpiresAt, c.Now),
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), CreationMode: k.CreationMode,
		ExpiresAt: resource.StampOf(k.ExpiresAt), ExpiryEnforced: jsonfield.Bit(k.ExpiryEnforced), AlertEmails: k.AlertEmails, Scopes: k.Scopes,
		Defaults:            keyDefaultsView{k.Defaults.Metadata, jsonfield.OrNull(k.Defaults.ConfigID), k.Defaults.MayOverride()},
		AllowConfigOverride: jsonfield.Bit(k.Defaults.MayOverride()), LastRotatedAt: resource.StampOf(k.LastRotatedAt), Object: "api-key",
		RotationPolicy: jsonfield.Nullable[rotationPolicyView]{Object: viewRotation(k.Rotation)},
	}
	limits, err := ks.Budgets.Show(ctx, c, quota.Subject{ID: r.ID}, k.UsageLimits, k.RateLimits)
	if err != nil {
		return v, err
	}
	v.Status = limits.Status(v.Status)
	v.UsageLimits, v.RateLimits, v.LastResetAt = limits.One(k.ExpiresAt, r.Status), jsonfield.OrEmpty(limits.Rates), limits.LastReset
	if detail {
		v.NextUsageResetAt = limits.NextReset
	}
	if k.Previous != nil && k.Previous.Until != nil && c.Now.Before(*k.Previous.Until) {
		v.KeyTransitionExpiresAt = resource.StampOf(k.Previous.Until)
	}
	if !detail && k.Type == access.WorkspaceUser && k.UserID != c.Principal.UserID {
		v.Key = "" // a key of another user
	}
	if v.Defaults.Metadata == nil {
		v.Defaults.Metadata = map[string]string{}
	}
	if detail {
		raw, err := userKeys(ks).rawOf(c, &r)
		if err != nil {
			return v, err
		}
		if raw.Reveal() != "" {
			v.Key = raw.Reveal()
		}
	}
	return v, nil
}
