package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"sync"
)

// Hash is the look-up hash of a key: HMAC-SHA-256 of its raw value under the pepper of the
// deployment. Its text form has 64 hexadecimal digits.
type Hash [sha256.Size]byte

// String returns the hexadecimal form.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hexadecimal form.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the hexadecimal form.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 2*sha256.Size {
		return errors.New("keys: a hash must have 64 hexadecimal digits")
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// Hasher hashes raw keys without allocating. Safe for concurrent use.
type Hasher struct{ inner, outer [sha256.BlockSize]byte }

// NewHasher returns a Hasher with the pepper of the deployment, at most 64 bytes.
func NewHasher(pepper []byte) *Hasher {
	var h Hasher
	copy(h.inner[:], pepper)
	copy(h.outer[:], pepper)
	for i := range h.inner {
		h.inner[i] ^= 0x36
		h.outer[i] ^= 0x5c
	}
	return &h
}

// MaxRaw is the maximum length of a credential in bytes. A longer one cannot be a key of the
// gateway.
const MaxRaw = 512

// hashing is the pooled state of one Sum.
type hashing struct {
	sha hash.Hash
	raw [MaxRaw]byte
	sum Hash
}

var hashPool = sync.Pool{New: func() any { return &hashing{sha: sha256.New()} }}

// Sum returns the hash of a raw key of at most MaxRaw bytes. For a longer one it returns the
// zero Hash, which no key has.
func (h *Hasher) Sum(raw string) Hash {
	if len(raw) > MaxRaw {
		return Hash{}
	}
	w := hashPool.Get().(*hashing)
	defer hashPool.Put(w)
	n := copy(w.raw[:], raw)
	w.digest(h.inner[:], w.raw[:n])
	clear(w.raw[:n])
	w.digest(h.outer[:], w.sum[:])
	return w.sum
}

// digest hashes a block of the pepper and the text after it.
func (w *hashing) digest(pepper, text []byte) {
	w.sha.Reset()
	w.sha.Write(pepper) // a hash never fails
	w.sha.Write(text)
	w.sha.Sum(w.sum[:0])
}

// Equal compares two hashes in constant time.
func (h Hash) Equal(o Hash) bool { return hmac.Equal(h[:], o[:]) }
