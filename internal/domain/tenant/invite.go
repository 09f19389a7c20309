package tenant

import (
	"time"

	"sluice/internal/kernel/access"
)

// The statuses of an invitation.
const (
	InvitePending   = "pending"
	InviteCancelled = "cancelled"
	InviteAccepted  = "accepted"
	InviteExpired   = "expired"
)

// InviteLife is the time within which an invitation can be accepted.
const InviteLife = 7 * 24 * time.Hour

// Invite is the stored body of an invitation. Its token is stored as a hash, by which the
// record is found, and sealed, so that the link can be shown again.
// Source: contract/identity-and-governance.yaml, Invite and CreateInvite.
type Invite struct {
	Email      string             `json:"email"`
	Role       access.Role        `json:"role"` // admin or member of the organisation
	Workspaces []InvitedWorkspace `json:"workspaces,omitempty"`
	Scopes     []string           `json:"scopes,omitempty"` // scopes of the user keys that are created on acceptance
	InvitedBy  string             `json:"invited_by"`
	ExpiresAt  time.Time          `json:"expires_at"`
	AcceptedAt *time.Time         `json:"accepted_at,omitempty"`
}

// InvitedWorkspace is a workspace that the user joins on acceptance.
type InvitedWorkspace struct {
	ID   string      `json:"id"`
	Role access.Role `json:"role"`
}

// StatusAt returns the status of an invitation at a time. An invitation that was not accepted
// in time is expired, even when the stored status differs.
func (i *Invite) StatusAt(stored string, now time.Time) string {
	if stored == InvitePending && !now.Before(i.ExpiresAt) {
		return InviteExpired
	}
	return stored
}
