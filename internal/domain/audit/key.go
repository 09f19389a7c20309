package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// SeedBytes is the length of the secret that NewSigner takes.
const SeedBytes = ed25519.SeedSize

// Signer signs checkpoints and exports with the Ed25519 key of a deployment. Safe
// for concurrent use. It prints as its key id.
type Signer struct {
	private ed25519.PrivateKey
}

// NewSeed returns fresh secret bytes for NewSigner.
func NewSeed() []byte {
	seed := make([]byte, SeedBytes)
	_, _ = rand.Read(seed) // ends the program rather than fail
	return seed
}

// NewSigner makes a signer from a seed of SeedBytes secret random bytes.
func NewSigner(seed []byte) (*Signer, error) {
	if len(seed) != SeedBytes {
		return nil, fmt.Errorf("audit signing key has %d bytes; it must have %d", len(seed), SeedBytes)
	}
	return &Signer{ed25519.NewKeyFromSeed(seed)}, nil
}

// Public is the key that verifies what the signer signs.
func (s *Signer) Public() PublicKey { return PublicKey(s.private[SeedBytes:]) }

// String is the id of the key.
func (s *Signer) String() string { return s.Public().ID() }

// GoString keeps %#v from showing the key.
func (s *Signer) GoString() string { return "audit.Signer(" + s.String() + ")" }

func (s *Signer) sign(message []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, message))
}

// PublicKey verifies signatures. It is not secret.
type PublicKey []byte

// ID names the key, for example "9f86d081884c7d65": the first eight bytes of the
// SHA-256 of its 32 bytes.
func (k PublicKey) ID() string {
	sum := sha256.Sum256(k)
	return hex.EncodeToString(sum[:8])
}

// Base64 is the 32 bytes of the key in standard base64.
func (k PublicKey) Base64() string { return base64.StdEncoding.EncodeToString(k) }

// PEM is the key as openssl and others read it: a SubjectPublicKeyInfo.
func (k PublicKey) PEM() string {
	der, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(k))
	if err != nil {
		return "" // an Ed25519 key always encodes
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

var errKeyForm = errors.New("public key must be a PEM block PUBLIC KEY with an Ed25519 key, or its 32 bytes in base64")

// ParsePublicKey reads what PEM or Base64 gives. Blanks around it do not matter.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if raw, err := base64.StdEncoding.Strict().DecodeString(text); err == nil && len(raw) == ed25519.PublicKeySize {
		return raw, nil
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errKeyForm
	}
	found, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := found.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, errKeyForm
	}
	return PublicKey(key), nil
}

// verifies reports whether a signature is this key's for a message.
func (k PublicKey) verifies(message []byte, signature string) bool {
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	return err == nil && len(k) == ed25519.PublicKeySize && ed25519.Verify(ed25519.PublicKey(k), message, raw)
}
