// Package respcache has the values by which the administration selects responses in the response
// cache. It stores nothing: the caches of the gateway do. Start reading at Filter.
package respcache

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Filter selects cached responses of one organisation. Every field that is set must match. With
// Organisation alone it selects all responses of the organisation.
type Filter struct {
	Organisation string // id; required: an empty one selects nothing
	Workspace    string // id; empty: all workspaces
	Key          string // cache key as the request log shows it: 64 hexadecimal digits; empty: any
	APIKey       string // id of the key whose call stored the response
	Namespace    string
	Config       string    // slug of a saved config, "inline" for one that a request contained
	Model        string    // as requested: "gpt-4o"
	Before       time.Time // stored before; zero: at any time
}

// keyDigits is the length of a cache key in its readable form.
const keyDigits = 2 * sha256.Size

// ValidKey reports whether a text has the form of a cache key: 64 hexadecimal digits.
func ValidKey(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == keyDigits
}
