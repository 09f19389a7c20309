// Package sealed keeps secrets from being printed and from being stored in the
// clear: String prints as ***, and Box seals bytes with AES-256-GCM.
package sealed

import (
	"crypto/subtle"
	"log/slog"
)

// Mask is what a secret prints as.
const Mask = "***"

// String is a secret. It prints, logs and marshals as ***; Reveal gives the value
// to the one place that needs it. The zero String is an absent secret.
type String struct{ v string }

// New hides v.
func New(v string) String { return String{v} }

// Reveal returns the secret. Call it where the secret is used, nowhere else.
func (s String) Reveal() string { return s.v }

// Empty reports whether there is no secret.
func (s String) Empty() bool { return s.v == "" }

// Equal compares in constant time.
func (s String) Equal(other string) bool {
	return subtle.ConstantTimeCompare([]byte(s.v), []byte(other)) == 1
}

// String returns *** or "".
func (s String) String() string {
	if s.v == "" {
		return ""
	}
	return Mask
}

// GoString returns the mask for %#v.
func (s String) GoString() string { return `sealed.New("` + s.String() + `")` }

// LogValue returns the mask for log/slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the mask for JSON and YAML.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value as it stands.
func (s *String) UnmarshalText(b []byte) error { s.v = string(b); return nil }
