package identity

import (
	"strings"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/sealed"
)

// SessionKind is the kind of the stored record of a session.
const SessionKind = "session"

// Session is the stored body of what a login opened. Its token is not in it: the
// record is found by the hash of it.
type Session struct {
	UserID    string    `json:"user_id"`
	Began     time.Time `json:"began"`
	ExpiresAt time.Time `json:"expires_at"`
	Agent     string    `json:"agent,omitempty"` // User-Agent of the login, for people
	RemoteIP  string    `json:"remote_ip,omitempty"`
}

// Life is how long a session lasts when the organisation sets nothing shorter.
const Life = 7 * 24 * time.Hour

// MinLife is the shortest that an organisation may set. Source: spec, Limits.
const MinLife = 900 * time.Second

// NewToken returns a fresh token, "ses_" and 256 random bits.
func NewToken() string { return sealed.SessionPrefix + ident.NewSecret(32) }

// IsToken reports whether a credential has the form of a session's token.
func IsToken(s string) bool { return strings.HasPrefix(s, sealed.SessionPrefix) && len(s) < 128 }

// Check says whether the session is open: fault.Unauthenticated when it is over, by
// its own end or because it is older than the longest life that the organisation
// allows now; zero allows Life.
func (s *Session) Check(now time.Time, longest time.Duration) error {
	if longest == 0 || longest > Life {
		longest = Life
	}
	if !now.Before(s.ExpiresAt) || now.Sub(s.Began) >= longest {
		return fault.New(fault.Unauthenticated, "your session has expired; sign in again")
	}
	return nil
}
