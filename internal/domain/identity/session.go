package identity

import (
	"strings"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// SessionKind is the kind of the stored record of a session.
const SessionKind = "session"

// Session is the stored body of a login session. It does not contain the token: the record is
// found by the hash of the token.
type Session struct {
	UserID    string    `json:"user_id"`
	Began     time.Time `json:"began"`
	ExpiresAt time.Time `json:"expires_at"`
	Agent     string    `json:"agent,omitempty"` // User-Agent of the login, for display
	RemoteIP  string    `json:"remote_ip,omitempty"`
}

// Life is the lifetime of a session when the organisation does not set a shorter one.
const Life = 7 * 24 * time.Hour

// MinLife is the shortest lifetime that an organisation may set. Source: spec, Limits.
const MinLife = 900 * time.Second

// NewToken returns a new random token, "ses_" followed by 256 random bits.
func NewToken() string { return sealed.SessionPrefix + ident.NewSecret(32) }

// IsToken reports whether a credential has the form of a session token.
func IsToken(s string) bool { return strings.HasPrefix(s, sealed.SessionPrefix) && len(s) < 128 }

// Check checks whether the session is open. It returns fault.Unauthenticated when the session
// has expired, or when it is older than longest, the maximum that the organisation allows now.
// Zero means Life.
func (s *Session) Check(now time.Time, longest time.Duration) error {
	if longest == 0 || longest > Life {
		longest = Life
	}
	if !now.Before(s.ExpiresAt) || now.Sub(s.Began) >= longest {
		return fault.New(fault.Unauthenticated, "your session has expired; sign in again")
	}
	return nil
}
