package expiry

import (
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// StatusAt returns the status of a record, including an expiry that is not stored yet.
func StatusAt(status string, expires *time.Time, now time.Time) string {
	if expires != nil && !now.Before(*expires) && status != resource.Archived {
		return "expired"
	}
	return status
}

// Check rejects an expiry in the past.
func Check(c *resource.Call, sent resource.Sent, expires *time.Time) error {
	if sent.Has("expires_at") && !expires.After(c.Now) {
		return fault.New(fault.InvalidParameter, "must be in the future").WithParam("expires_at")
	}
	return nil
}

// Reactivate makes an expired record active if its expiry was moved or removed.
func Reactivate[T any](ch *resource.Edit[T], expires *time.Time, now time.Time) {
	if ch.New.Status == "expired" && (expires == nil || now.Before(*expires)) {
		ch.New.Status = resource.Active
	}
}

// LiveStatuses are the statuses of keys and providers that have not expired.
var LiveStatuses = []string{resource.Active, "exhausted"}
