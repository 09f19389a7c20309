package admin

import (
	"time"

	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// withinCaller keeps what a caller does with a key that ends from giving a life beyond that,
// to others or to itself: a key that was lost would never end. Where no end is named a new
// key ends with the caller's.
func withinCaller(c *resource.Call, ch *resource.Edit[keys.Key]) error {
	key, last := &ch.New.Value, c.Principal.Expires
	isSent := sentAny(ch.Sent, []string{"expires_at"})
	switch {
	case last == nil || ch.Old != nil && !isSent:
		return nil
	case !isSent && outlives(key.ExpiresAt, last):
		key.ExpiresAt, key.ExpiryEnforced = last, true
		return nil
	case ch.Old != nil && !outlives(key.ExpiresAt, ch.Old.Value.ExpiresAt): // it loses by it
		return nil
	case outlives(key.ExpiresAt, last):
		return fault.Newf(fault.InvalidParameter, "your API key expires at %s, and no key it creates may last longer; choose an earlier time, sign in, or use a longer-lived key", forPeople(last)).WithParam("expires_at")
	}
	return nil
}

// outlives reports whether what ends at one time is there when what ends at another is gone;
// nil is never.
func outlives(one, other *time.Time) bool {
	return other != nil && (one == nil || one.After(*other))
}
