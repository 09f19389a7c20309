// Package keys contains API keys: their stored record, their look-up hash, their validity and
// their rotation. Start with Key, the stored body, and Entry, the form that requests use.
package keys

import (
	"encoding/json"
	"regexp"
	"time"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// Kind is the kind of the stored record.
const Kind = "api_key"

// Key is the stored body of an API key. It never contains the raw value: Secret contains the
// look-up hash and the sealed value.
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
	AutoRotated    bool              `json:"auto_rotated,omitempty"` // a schedule created the current value, and no user has seen it
	// Rotation schedules automatic new values of the key. It is nil for a key without rotation.
	Rotation *RotationPolicy `json:"rotation_policy,omitempty"`
	// WarnedOf is the next rotation for which users were notified.
	WarnedOf *time.Time `json:"warned_of,omitempty"`
}

// Secret is one value of a key.
type Secret struct {
	Hash   Hash       `json:"hash"`
	Sealed []byte     `json:"sealed,omitempty"` // under the context "api_key/" + record id
	Masked string     `json:"masked"`           // "sk*****x4Q"
	Until  *time.Time `json:"until,omitempty"`  // end of a transition; nil while current
	Warned bool       `json:"warned,omitempty"` // users were notified of the end
}

// Defaults are the settings that apply to every request made with the key.
type Defaults struct {
	ConfigID            string            `json:"config_id,omitempty"` // slug or id in the same workspace
	Metadata            map[string]string `json:"metadata,omitempty"`
	AllowConfigOverride *bool             `json:"allow_config_override,omitempty"` // nil means true
}

// MayOverride reports whether a request may use a different config.
func (d Defaults) MayOverride() bool { return d.AllowConfigOverride == nil || *d.AllowConfigOverride }

// Mask returns the first two and the last three characters with stars between them,
// "sk*****x4Q". A value that is too short to show five characters becomes all stars.
// Source: contract/identity-and-governance.md section 1.
func Mask(raw string) string {
	if len(raw) < 12 {
		return "*****"
	}
	return raw[:2] + "*****" + raw[len(raw)-3:]
}

// maskForm matches values that are treated as masks. No key of a provider matches.
var maskForm = regexp.MustCompile(`(?s)^(.{1,2}\*{5}.{1,3}|\*{5})$`)

// IsMask reports whether a value has the form that Mask returns.
func IsMask(value string) bool { return maskForm.MatchString(value) }

// Check checks whether the key may be used now. It returns fault.KeyExpired after the expiry,
// and fault.Unauthenticated for an archived record.
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

// Entry is a key in the form that requests use: the identity of its record and the principal
// that was built once with the snapshot. It is shared and never changes.
type Entry struct {
	Principal access.Principal
	Status    string // status of the record: active, exhausted, expired, archived
	Key       Key
}

// Context returns the sealing context of a key: the kind and id of its record.
func Context(recordID string) string { return Kind + "/" + recordID }

// Hashes returns the hashes of all valid values: the current one, and the previous one during a
// rotation.
func (k *Key) Hashes() []Hash {
	if k.Previous != nil {
		return []Hash{k.Secret.Hash, k.Previous.Hash}
	}
	return []Hash{k.Secret.Hash}
}

// Timed reports whether the key changes automatically: it expires, is rotated, or a previous
// value ends.
func (k *Key) Timed() bool { return k.ExpiresAt != nil || k.Previous != nil || k.Rotation != nil }
