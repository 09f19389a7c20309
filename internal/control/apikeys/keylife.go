package apikeys

import (
	"time"

	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
)

// withinCaller prevents a caller whose key expires from giving keys a longer life, its own
// included. Otherwise a stolen key would never expire. Without an expiry in the body, a new key
// expires with the caller's key.
func withinCaller(c *resource.Call, ch *resource.Edit[keys.Key]) error {
	key, last := &ch.New.Value, c.Principal.Expires
	isSent := jsonfield.SentAny(ch.Sent, []string{"expires_at"})
	switch {
	case last == nil || ch.Old != nil && !isSent:
		return nil
	case !isSent && outlives(key.ExpiresAt, last):
		key.ExpiresAt, key.ExpiryEnforced = last, true
		return nil
	case ch.Old != nil && !outlives(key.ExpiresAt, ch.Old.Value.ExpiresAt): // the key does not gain time
		return nil
	case outlives(key.ExpiresAt, last):
		return fault.Newf(fault.InvalidParameter, "your API key expires at %s, and no key it creates may last longer; choose an earlier time, sign in, or use a longer-lived key", outbox.FormatTime(last)).WithParam("expires_at")
	}
	return nil
}

// outlives reports whether one expiry is later than another; nil means never.
func outlives(one, other *time.Time) bool {
	return other != nil && (one == nil || one.After(*other))
}
