// Package keys holds API keys: their record, how they are hashed for look-up, and
// when they are valid.
package keys

import (
	"encoding/json"
	"time"

	"sluice/internal/access"
	"sluice/internal/fault"
)

// Kind is the kind of the stored record.
const Kind = "api_key"

// Key is the stored body of an API key. The raw value is never in it: Secret has
// the hash for look-up and the sealed value besides.
// Source: contract/identity-and-governance.yaml, ApiKey.
type Key struct {
	Name           string            `json:"name"`
	Description    string            `json:"description,omitempty"`
	Type           access.KeyType    `json:"type"`
	Scopes         access.ScopeNames `json:"scopes"`
	UserID         string            `json:"user_id,omitempty"`
	Secret         Secret            `json:"secret"`
	Previous       *Secret           `json:"previous,omitempty"` // valid until its Until during a rotation
	ExpiresAt      *time.Time        `json:"expires_at,omitempty"`
	ExpiryEnforced bool              `json:"expiry_enforced,omitempty"`
	Defaults       Defaults          `json:"defaults"`
	AlertEmails    []string          `json:"alert_emails,omitempty"`
	CreationMode   string            `json:"creation_mode,omitempty"` // ui, api or auto
	LastRotatedAt  *time.Time        `json:"last_rotated_at,omitempty"`
	UsageLimits    json.RawMessage   `json:"usage_limits,omitempty"` // quota.Budget
	RateLimits     json.RawMessage   `json:"rate_limits,omitempty"`  // list of quota.Rate
	AutoRotated    bool              `json:"auto_rotated,omitempty"` // the present value was made by a schedule, and shown to nobody
	// Rotation is when the key gets a new value by itself; nil for never.
	Rotation *RotationPolicy `json:"rotation_policy,omitempty"`
	// WarnedOf is the next rotation of which people were told.
	WarnedOf *time.Time `json:"warned_of,omitempty"`
}

// Secret is one value of a key.
type Secret struct {
	Hash   Hash       `json:"hash"`
	Sealed []byte     `json:"sealed,omitempty"` // under the context "api_key/" + record id
	Masked string     `json:"masked"`           // "sk*****x4Q"
	Until  *time.Time `json:"until,omitempty"`  // end of a transition; nil while current
	Warned bool       `json:"warned,omitempty"` // people were told that it ends
}

// Defaults apply to every request made with the key.
type Defaults struct {
	ConfigID            string            `json:"config_id,omitempty"` // slug or id in the same workspace
	Metadata            map[string]string `json:"metadata,omitempty"`
	AllowConfigOverride *bool             `json:"allow_config_override,omitempty"` // nil means true
}

// MayOverride reports whether a request may bring its own config.
func (d Defaults) MayOverride() bool { return d.AllowConfigOverride == nil || *d.AllowConfigOverride }

// Mask shows the first two and the last three characters, "sk*****x4Q"; a value
// too short to show five characters of is all stars.
// Source: contract/identity-and-governance.md section 1.
func Mask(raw string) string {
	if len(raw) < 12 {
		return "*****"
	}
	return raw[:2] + "*****" + raw[len(raw)-3:]
}

// Check says whether the key may be used now: fault.KeyExpired past its expiry,
// fault.Unauthenticated when the record was archived.
func (k *Key) Check(status string, now time.Time) error {
	if k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) {
		return fault.New(fault.KeyExpired, "the API key has expired; ask for a new one or extend it")
	}
	switch status {
	case "expired":
		return fault.New(fault.KeyExpired, "the API key has expired; ask for a new one or extend it")
	case "archived":
		return fault.New(fault.Unauthenticated, "the API key was deleted")
	}
	return nil
}

// Entry is a key as requests see it: its record's identity and the principal made
// from it once, when the snapshot was built. Shared and never changed.
type Entry struct {
	Principal access.Principal
	Status    string // of the record: active, exhausted, expired, archived
	Key       Key
}

// Context is what a key's sealed values are bound to: the record they stand in.
func Context(recordID string) string { return Kind + "/" + recordID }

// Hashes are all values that lead to the key: the current one, and during a
// rotation the previous one.
func (k *Key) Hashes() []Hash {
	if k.Previous != nil {
		return []Hash{k.Secret.Hash, k.Previous.Hash}
	}
	return []Hash{k.Secret.Hash}
}

// Timed reports whether something happens to the key by itself: it expires, is rotated,
// or a previous value ends.
func (k *Key) Timed() bool { return k.ExpiresAt != nil || k.Previous != nil || k.Rotation != nil }
