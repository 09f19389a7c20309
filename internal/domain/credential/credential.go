// Package credential contains the stored records for reaching model providers: integrations
// (credentials of the organisation or a workspace), providers (an integration's
// appearance in a workspace, used as @slug) and virtual keys (the older form).
package credential

import (
	"encoding/json"
	"slices"
	"time"

	"sluice/internal/kernel/sealed"
)

// The kinds of the stored records.
const (
	IntegrationKind = "integration"
	ProviderKind    = "provider"
	VirtualKeyKind  = "virtual_key"
)

// Integration is the stored body of an integration.
// Source: contract/identity-and-governance.yaml, Integration.
type Integration struct {
	Name           string            `json:"name"`
	AIProviderID   string            `json:"ai_provider_id"` // id of a provider specification, for example "openai"
	Description    string            `json:"description,omitempty"`
	OwnerID        string            `json:"owner_id,omitempty"`
	Key            []byte            `json:"key,omitempty"`            // sealed under the context "integration/" + record id
	MaskedKey      string            `json:"masked_key,omitempty"`     // "sk*****x4Q"
	Configurations []byte            `json:"configurations,omitempty"` // sealed JSON object, same context
	Tags           map[string]string `json:"tags,omitempty"`
	AllowAllModels *bool             `json:"allow_all_models,omitempty"` // nil means true
	Models         []Model           `json:"models,omitempty"`
	Mappings       []sealed.Mapping  `json:"secret_mappings,omitempty"`
	Pricing        string            `json:"pricing,omitempty"`         // PricingFree, or empty
	KeyRequired    *bool             `json:"is_key_required,omitempty"` // as a client sent it; nothing depends on it

	// Adjustments multiply list prices: {"multiplier": {"default": 1.1}}.
	Adjustments json.RawMessage `json:"pricing_adjustments,omitempty"` // for catalog.ReadAdjustments

	Limits       map[string]WorkspaceLimits `json:"workspace_limits,omitempty"` // of single workspaces, by their ids
	GlobalLimits WorkspaceLimits            `json:"global_limits,omitzero"`     // that global access gives to each workspace
}

// PricingFree is the pricing of what costs nothing, whatever price lists say: a server on own
// machines.
const PricingFree = "free"

// WorkspaceLimits bound what one workspace may use of an integration of the
// organisation, through all its providers there together.
// Source: contract/identity-and-governance.yaml, IntegrationWorkspaceIn; .md section 12.
type WorkspaceLimits struct {
	UsageLimits json.RawMessage `json:"usage_limits,omitempty"` // list of one quota.Budget
	RateLimits  json.RawMessage `json:"rate_limits,omitempty"`  // list of one quota.Rate
}

// IsZero reports whether there are no limits.
func (l WorkspaceLimits) IsZero() bool { return len(l.UsageLimits) == 0 && len(l.RateLimits) == 0 }

// Model is one line of an integration's model list.
type Model struct {
	Slug     string `json:"slug"` // "gpt-4o"
	Enabled  bool   `json:"enabled"`
	Name     string `json:"name,omitempty"`
	IsCustom bool   `json:"is_custom,omitempty"`

	IsFineTune bool            `json:"is_finetune,omitempty"`
	Base       string          `json:"base_model_slug,omitempty"` // of a fine-tuned model: what it was made of
	Pricing    json.RawMessage `json:"pricing_config,omitempty"`  // own prices, for catalog.ReadOverride
	// Sealed are custom_host and custom_headers of calls of this model, which beat those of
	// the integration: a JSON object, sealed as Integration.Configurations is. Nil for none.
	Sealed []byte `json:"configurations,omitempty"`
}

// Provider is the stored body of a provider.
type Provider struct {
	Name          string            `json:"name"`
	IntegrationID string            `json:"integration_id"` // id of the integration's record
	Note          string            `json:"note,omitempty"`
	Tags          map[string]string `json:"tags,omitempty"`
	ExpiresAt     *time.Time        `json:"expires_at,omitempty"`
	Pricing       string            `json:"pricing,omitempty"`      // PricingFree, or empty
	UsageLimits   json.RawMessage   `json:"usage_limits,omitempty"` // quota.Budget
	RateLimits    json.RawMessage   `json:"rate_limits,omitempty"`  // list of quota.Rate
}

// VirtualKey is the stored body of a virtual key.
type VirtualKey struct {
	Name        string           `json:"name"`
	Provider    string           `json:"provider"` // id of a provider specification
	Key         []byte           `json:"key,omitempty"`
	MaskedKey   string           `json:"masked_key,omitempty"`
	Note        string           `json:"note,omitempty"`
	Config      json.RawMessage  `json:"model_config,omitempty"`
	Sealed      []byte           `json:"sealed_config,omitempty"` // JSON object of credential fields, sealed under "virtual_key/" + record id
	ExpiresAt   *time.Time       `json:"expires_at,omitempty"`
	Pricing     string           `json:"pricing,omitempty"` // PricingFree, or empty
	Mappings    []sealed.Mapping `json:"secret_mappings,omitempty"`
	UsageLimits json.RawMessage  `json:"usage_limits,omitempty"` // quota.Budget
	RateLimits  json.RawMessage  `json:"rate_limits,omitempty"`  // list of quota.Rate
}

// Account is a stored provider made ready for calls: which specification, and the
// values of its credential fields by their snake_case names, the main secret
// under "key". It is shared by many requests and never changed.
type Account struct {
	Kind     string // ProviderKind or VirtualKeyKind
	Slug     string // "@" is not part of it
	RecordID string
	// IntegrationID is the id of the integration whose credentials they are; a virtual
	// key has none.
	IntegrationID string
	Spec          string // "openai"
	Status        string
	ExpiresAt     *time.Time
	Models        []Model
	AllModels     bool
	Free          bool              // calls cost nothing, as the provider or virtual key states
	Values        map[string]string // secrets in the clear: never printed, never logged
	// Overrides are the values of single models, by their slugs, that beat Values:
	// custom_host and custom_headers. They must not be changed.
	Overrides map[string]map[string]string
	Secrets   []SecretUse // fields that are read from secret managers at call time, and beat Values
}

// String keeps the values out of every print.
func (a *Account) String() string { return "@" + a.Slug + " (" + a.Spec + ")" }

// GoString keeps the values out of %#v.
func (a *Account) GoString() string { return a.String() }

// Allows reports whether the account may be asked for a model: with AllModels all
// but those switched off, else only those switched on.
// Source: contract/identity-and-governance.md section 12.
func (a *Account) Allows(model string) bool {
	for i := range a.Models {
		if a.Models[i].Slug == model {
			return a.Models[i].Enabled
		}
	}
	return a.AllModels
}

// Restricted reports whether there are models that the account may not be asked for.
func (a *Account) Restricted() bool {
	return !a.AllModels || slices.ContainsFunc(a.Models, func(m Model) bool { return !m.Enabled })
}
