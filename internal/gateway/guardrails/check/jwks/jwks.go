// Package jwks reads sets of public keys that verify signed tokens (RFC 7517), and caches those that
// services publish. Secret keys, keys for encryption and keys that are too small are left out. The
// package neither sends requests nor verifies signatures. Start with Parse and Cache.
package jwks

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
)

// Limits of a key set.
const (
	MaxBytes   = 1 << 20
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192
)

// Key is a public key.
type Key struct {
	ID         string   // "2026-11"; may be empty
	Algorithms []string // that the key verifies, as RFC 7518 names them: "RS256"
	Public     crypto.PublicKey
}

// Set contains the keys of one issuer. It is immutable and safe for concurrent use.
type Set []Key

// Algorithms returns the algorithms that keys of a set may have. All are asymmetric: a public key is
// never the secret of a hash. The caller owns the slice.
func Algorithms() []string {
	return slices.Concat(rsaAlgorithms, []string{"ES256", "ES384", "ES512", "EdDSA"})
}

var rsaAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}

// Errors of Parse.
var (
	ErrFormat = errors.New(`the key set must be an object with a list of at most 100 "keys"`)
	ErrNoKey  = errors.New("the key set has no usable public key: RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519")
)

// Parse reads a key set: {"keys":[{"kty":"RSA","kid":"…","n":"…","e":"AQAB"}]}. Keys that cannot be
// used are left out. The error is ErrFormat or ErrNoKey.
func Parse(raw []byte) (Set, error) {
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if len(raw) > MaxBytes || json.Unmarshal(raw, &doc) != nil || len(doc.Keys) > maxKeys {
		return nil, ErrFormat
	}
	var set Set
	for _, member := range doc.Keys {
		var w webKey
		if json.Unmarshal(member, &w) != nil {
			continue
		}
		if k, ok := w.key(); ok {
			set = append(set, k)
		}
	}
	if len(set) == 0 {
		return nil, ErrNoKey
	}
	return set, nil
}

// Find returns the keys that may have signed a token with this key id and algorithm. An empty id finds
// the keys of all ids.
func (s Set) Find(id, algorithm string) []crypto.PublicKey {
	var found []crypto.PublicKey
	for i := range s {
		if (id == "" || s[i].ID == id) && slices.Contains(s[i].Algorithms, algorithm) {
			found = append(found, s[i].Public)
		}
	}
	return found
}

// webKey has the members of a JSON Web Key that public keys need. Source: RFC 7518 section 6, RFC 8037.
type webKey struct {
	Type       string   `json:"kty"`
	ID         string   `json:"kid"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Algorithm  string   `json:"alg"`
	Curve      string   `json:"crv"`
	N          string   `json:"n"`
	E          string   `json:"e"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
}

// key returns the public key. It reports false for a key that cannot verify signatures here.
func (w *webKey) key() (k Key, ok bool) {
	if w.Use != "" && w.Use != "sig" || len(w.Operations) > 0 && !slices.Contains(w.Operations, "verify") {
		return Key{}, false
	}
	switch w.Type {
	case "RSA":
		k, ok = w.rsa()
	case "EC":
		k, ok = w.ec()
	case "OKP":
		k, ok = w.ed25519()
	}
	k.ID = w.ID
	if w.Algorithm != "" {
		ok = ok && slices.Contains(k.Algorithms, w.Algorithm)
		k.Algorithms = []string{w.Algorithm}
	}
	return k, ok
}

func (w *webKey) rsa() (Key, bool) {
	n, exponent := number(w.N), number(w.E)
	if n == nil || n.BitLen() < minRSABits || n.BitLen() > maxRSABits {
		return Key{}, false
	}
	if exponent == nil || exponent.BitLen() > 31 || exponent.Int64() < 3 || exponent.Bit(0) == 0 {
		return Key{}, false
	}
	return Key{Algorithms: rsaAlgorithms, Public: &rsa.PublicKey{N: n, E: int(exponent.Int64())}}, true
}

// curves maps the names of curves to their parameters and algorithm.
var curves = map[string]struct {
	curve     elliptic.Curve
	algorithm string
}{
	"P-256": {elliptic.P256(), "ES256"}, "P-384": {elliptic.P384(), "ES384"}, "P-521": {elliptic.P521(), "ES512"},
}

func (w *webKey) ec() (Key, bool) {
	c, known := curves[w.Curve]
	x, y := number(w.X), number(w.Y)
	if !known || x == nil || y == nil {
		return Key{}, false
	}
	size := (c.curve.Params().BitSize + 7) / 8
	if x.BitLen() > 8*size || y.BitLen() > 8*size {
		return Key{}, false
	}
	point := make([]byte, 1+2*size)
	point[0] = 4 // an uncompressed point
	x.FillBytes(point[1 : 1+size])
	y.FillBytes(point[1+size:])
	public, err := ecdsa.ParseUncompressedPublicKey(c.curve, point) // refuses points off the curve
	if err != nil {
		return Key{}, false
	}
	return Key{Algorithms: []string{c.algorithm}, Public: public}, true
}

func (w *webKey) ed25519() (Key, bool) {
	x, err := base64.RawURLEncoding.DecodeString(w.X)
	if err != nil || w.Curve != "Ed25519" || len(x) != ed25519.PublicKeySize {
		return Key{}, false
	}
	return Key{Algorithms: []string{"EdDSA"}, Public: ed25519.PublicKey(x)}, true
}

// number decodes a base64url number, nil if it is not one.
func number(s string) *big.Int {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) == 0 || len(b) > maxRSABits/8+1 {
		return nil
	}
	return new(big.Int).SetBytes(b)
}
