// Package ident makes and checks the names of things: record ids, slugs, key material,
// and the clock that stamps them.
package ident

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"time"

	"github.com/google/uuid"
)

// ID is the identity of a record: a UUID of version 7, so that ids sort by the
// time they were made, for example "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f".
type ID = string

// NewID returns a fresh id. It panics when the system has no randomness.
func NewID() ID { return uuid.Must(uuid.NewV7()).String() }

// NewIDAt returns a fresh id for a thing that began at t. Ids of the same quarter of a
// microsecond sort in any order; in return making one reads no clock and takes no lock.
// Source: RFC 9562 section 5.7, and 6.2 method 3 for what is below a millisecond.
func NewIDAt(t time.Time) ID {
	var id uuid.UUID
	_, _ = rand.Read(id[8:]) // never fails, as above all secrets need
	ns := t.UnixNano()
	ms, rest := ns/int64(time.Millisecond), ns%int64(time.Millisecond)
	binary.BigEndian.PutUint64(id[:8], uint64(ms)<<16|7<<12|uint64(rest<<12/int64(time.Millisecond)))
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// ValidID reports whether s is a UUID in its 36-character form.
func ValidID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// SlugMax is the longest slug in bytes. Source: spec, Limits.
const SlugMax = 255

var slugForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ValidSlug reports whether s can name a saved thing: letters, digits, dot, dash
// and underscore, beginning with a letter or digit, at most SlugMax bytes.
func ValidSlug(s string) bool { return len(s) <= SlugMax && slugForm.MatchString(s) }

// NewSlug returns prefix and six random characters, for example "pc-routing-3f9x2a".
func NewSlug(prefix string) string {
	return prefix + "-" + random("abcdefghijklmnopqrstuvwxyz0123456789", 6)
}

const base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// NewObjectID returns a fresh id of a thing in an answer, for example "call_1bW…": prefix
// and 24 random base62 characters, which is the form of OpenAI's own.
func NewObjectID(prefix string) string { return prefix + random(base62, 24) }

// NewKey returns fresh key material: prefix and 32 random base62 characters, 190
// bits, for example "sk-7Gq…". It never has dots, so it is never taken for a JWT.
// Source: contract/identity-and-governance.md section 1.
func NewKey(prefix string) string { return prefix + random(base62, 32) }

// random draws n characters of alphabet without bias.
func random(alphabet string, n int) string {
	out := make([]byte, 0, n)
	limit := byte(256 / len(alphabet) * len(alphabet) % 256) // 0 means every byte is usable
	for len(out) < n {
		var b [64]byte
		_, _ = rand.Read(b[:]) // crypto/rand never fails since Go 1.24; it ends the program instead
		for _, c := range b {
			if (limit == 0 || c < limit) && len(out) < n {
				out = append(out, alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return string(out)
}

// NewSecret returns n random bytes in URL-safe base64 without padding.
func NewSecret(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Clock returns the time. Tests use a fake one.
type Clock interface{ Now() time.Time }

// System is the clock of the machine.
type System struct{}

// Now is the present time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }
