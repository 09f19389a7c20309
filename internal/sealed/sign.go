package sealed

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
)

// signKey is the key by which what belongs to a context is signed, made of a secret of a Box.
// It has nothing in common with the one that seals.
func signKey(secret []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "sluice signing key v1", sha256.Size)
}

// Sign is a signature of 32 bytes over a message under the current key: HMAC-SHA-256. The
// context, for example "log export", says what it is good for: nothing that is signed for one
// context holds in another.
func (b *Sealer) Sign(message []byte, context string) []byte {
	return signed(b.signers[0], message, context)
}

// Signed reports whether a signature is one that Sign made, under the current key or an
// older one. It takes the same time whatever is wrong.
func (b *Sealer) Signed(message, signature []byte, context string) bool {
	good := false
	for _, key := range b.signers {
		good = hmac.Equal(signed(key, message, context), signature) || good
	}
	return good
}

// signed hashes the context first, so that no context and message look like others.
func signed(key, message []byte, context string) []byte {
	name := sha256.Sum256([]byte(context))
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(name[:]) // never fails
	_, _ = h.Write(message)
	return h.Sum(nil)
}
