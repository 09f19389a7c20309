// Package sealed protects secrets from being printed or stored in the clear. String prints as
// ***, and Sealer encrypts bytes with AES-256-GCM. Body, Path and Address mask credentials in
// records and logs.
package sealed

import (
	"crypto/subtle"
	"log/slog"
)

// Mask is the printed form of a secret.
const Mask = "***"

// String is a secret. It prints, logs and marshals as ***. Reveal returns the value. The zero
// String is an absent secret.
type String struct{ v string }

// New returns v as a String.
func New(v string) String { return String{v} }

// Reveal returns the secret. Call it only where the secret is used.
func (s String) Reveal() string { return s.v }

// Empty reports whether the secret is absent.
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

// UnmarshalText stores b unchanged as the secret.
func (s *String) UnmarshalText(b []byte) error { s.v = string(b); return nil }
