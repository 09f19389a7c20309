package sealed

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
)

// signKey derives the signing key from a secret of a Sealer. It is independent of the sealing
// key.
func signKey(secret []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "sluice signing key v1", sha256.Size)
}

// Sign returns a signature of 32 bytes over a message under the current key: HMAC-SHA-256. The
// context states its purpose, for example "log export". A signature is valid only for its
// context.
func (b *Sealer) Sign(message []byte, context string) []byte {
	return signed(b.signers[0], message, context)
}

// Signed reports whether Sign created a signature, under the current key or an older one. The
// duration does not depend on what is wrong.
func (b *Sealer) Signed(message, signature []byte, context string) bool {
	good := false
	for _, key := range b.signers {
		good = hmac.Equal(signed(key, message, context), signature) || good
	}
	return good
}

// signed hashes the context first, so that no two pairs of context and message have the same
// input.
func signed(key, message []byte, context string) []byte {
	name := sha256.Sum256([]byte(context))
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(name[:]) // never fails
	_, _ = h.Write(message)
	return h.Sum(nil)
}
