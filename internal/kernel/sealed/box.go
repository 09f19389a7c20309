package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Sealer seals and opens bytes under one current key and any number of older ones, so that the
// key can be rotated. Open selects the key by the id in the sealed bytes, Seal always uses the
// current key. Safe for concurrent use.
type Sealer struct {
	current keyID
	keys    map[keyID]cipher.AEAD
	signers [][]byte // keys of Sign, the current one first
}

type keyID [4]byte

// Sealed layout: version 1, key id (4 bytes), nonce (12), ciphertext and tag.
const (
	version   = 1
	headBytes = 1 + 4 + 12
)

// ErrUnknownKey means that the bytes were sealed under a key that this Sealer does not have.
var ErrUnknownKey = errors.New("sealed: unknown key")

// NewBox returns a Sealer with secrets of at least 16 bytes, the current one first.
// HKDF-SHA-256 derives each key, so passphrases and random keys are both suitable.
func NewBox(secrets ...[]byte) (*Sealer, error) {
	if len(secrets) == 0 {
		return nil, errors.New("sealed: no key")
	}
	b := &Sealer{keys: make(map[keyID]cipher.AEAD, len(secrets))}
	for i, s := range secrets {
		id, aead, err := derive(s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			b.current = id
		}
		b.keys[id] = aead
		signer, err := signKey(s)
		if err != nil {
			return nil, err
		}
		b.signers = append(b.signers, signer)
	}
	return b, nil
}

func derive(secret []byte) (keyID, cipher.AEAD, error) {
	var id keyID
	if len(secret) < 16 {
		return id, nil, fmt.Errorf("sealed: key of %d bytes is too short, 16 bytes are required", len(secret))
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "sluice sealing key v1", 32)
	if err != nil {
		return id, nil, err
	}
	name, err := hkdf.Key(sha256.New, secret, nil, "sluice sealing key id v1", len(id))
	if err != nil {
		return id, nil, err
	}
	copy(id[:], name)
	block, err := aes.NewCipher(key)
	if err != nil {
		return id, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return id, aead, err
}

// KeyID returns the id of the current key, for example "9f86d081". It is not secret.
func (b *Sealer) KeyID() string { return hex.EncodeToString(b.current[:]) }

// Seal encrypts plain. The context is authenticated, but not stored. Pass the identity of the
// row, for example "api_key/0191…", so that a sealed value is not valid in another row.
func (b *Sealer) Seal(plain []byte, context string) ([]byte, error) {
	out := make([]byte, headBytes, headBytes+len(plain)+16)
	out[0] = version
	copy(out[1:], b.current[:])
	nonce := out[5:headBytes]
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return b.keys[b.current].Seal(out, nonce, plain, []byte(context)), nil
}

// Open decrypts the result of Seal with the same context.
func (b *Sealer) Open(data []byte, context string) ([]byte, error) {
	if len(data) < headBytes || data[0] != version {
		return nil, errors.New("sealed: not sealed bytes")
	}
	aead, ok := b.keys[keyID(data[1:5])]
	if !ok {
		return nil, ErrUnknownKey
	}
	plain, err := aead.Open(nil, data[5:headBytes], data[headBytes:], []byte(context))
	if err != nil {
		return nil, fmt.Errorf("sealed: open: %w", err)
	}
	return plain, nil
}

// UsesOldKey reports whether data was sealed under a key other than the current one.
func (b *Sealer) UsesOldKey(data []byte) bool {
	return len(data) < headBytes || keyID(data[1:5]) != b.current
}
