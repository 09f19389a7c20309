// Package identity authenticates users. It contains the passwords of a local installation, the
// sessions that a login opens, and LoginThrottle, which limits guesses. Start with Passwords
// and Session.
package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// LoginKind is the kind of the stored record of a password.
const LoginKind = "login"

// Login is the stored body of a password. It is separate from the user, so that code that loads
// users does not load password hashes.
type Login struct {
	UserID string `json:"user_id"`
	Hash   string `json:"hash"` // "$argon2id$v=19$m=19456,t=2,p=1$salt$sum"
}

// Limits of the length of a password: the minimum in characters, the maximum in bytes.
const (
	MinPassword = 12
	MaxPassword = 1024
)

// cost contains the parameters of one hash: 19 MiB and two passes, the minimum that OWASP's
// Password Storage Cheat Sheet (2026) recommends for argon2id.
type cost struct {
	memoryKiB, passes uint32
	lanes             uint8
}

var present = cost{19456, 2, 1}

const (
	saltBytes = 16
	hashBytes = 32
)

// Passwords hashes and checks passwords, a few at a time, so that many concurrent logins do not
// use all memory and all processors. It is safe for concurrent use.
type Passwords struct{ turns chan struct{} }

// NewPasswords returns a Passwords that uses at most half of the processors at the same time.
func NewPasswords() *Passwords {
	return &Passwords{make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// Check checks whether a password may be set. The error is fault.InvalidParameter at path.
func Check(password sealed.String, path string) error {
	p := password.Reveal()
	switch {
	case !utf8.ValidString(p) || len(p) > MaxPassword:
		return fault.Newf(fault.InvalidParameter, "must be valid UTF-8 of at most %d bytes", MaxPassword).WithParam(path)
	case utf8.RuneCountInString(p) < MinPassword:
		return fault.Newf(fault.InvalidParameter, "must have at least %d characters", MinPassword).WithParam(path)
	}
	return nil
}

// Hash returns the encoded hash, the stored form.
func (p *Passwords) Hash(ctx context.Context, password sealed.String) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	hash, err := p.deriveKey(ctx, password, salt, present, nil)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, present.memoryKiB, present.passes, present.lanes, b64.EncodeToString(salt), b64.EncodeToString(hash)), nil
}

// Matches reports whether a password matches an encoded hash. The empty hash, for an unknown
// user, takes the same time and returns false, so the duration reveals nothing. Matches calls
// allowed when the guess may run. An error of allowed ends the guess without hashing: after too
// many wrong guesses, the guesses that still wait are not hashed.
func (p *Passwords) Matches(ctx context.Context, encoded string, password sealed.String, allowed func() error) (bool, error) {
	if encoded == "" {
		_, err := p.deriveKey(ctx, password, make([]byte, saltBytes), present, allowed)
		return false, err
	}
	c, salt, expected, err := parse(encoded)
	if err != nil {
		return false, err
	}
	got, err := p.deriveKey(ctx, password, salt, c, allowed)
	return subtle.ConstantTimeCompare(got, expected) == 1 && len(expected) == hashBytes, err
}

// deriveKey hashes when it may run, unless allowed then returns an error. A nil allowed is not
// called.
func (p *Passwords) deriveKey(ctx context.Context, password sealed.String, salt []byte, c cost, allowed func() error) ([]byte, error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	defer func() { <-p.turns }()
	if allowed != nil {
		if err := allowed(); err != nil {
			return nil, err
		}
	}
	return argon2.IDKey([]byte(password.Reveal()), salt, c.passes, c.memoryKiB, c.lanes, hashBytes), nil
}

// parse reads an encoded hash. It limits the cost parameters, so that a corrupt database row
// cannot exhaust the memory of the process.
func parse(encoded string) (c cost, salt, hash []byte, err error) {
	parts := strings.Split(encoded, "$")
	version := 0
	if len(parts) != 6 || parts[1] != "argon2id" {
		return c, nil, nil, fmt.Errorf("stored password does not have the form argon2id")
	}
	if _, err = fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return c, nil, nil, fmt.Errorf("stored password has an unsupported version: %q", parts[2])
	}
	if _, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memoryKiB, &c.passes, &c.lanes); err != nil {
		return c, nil, nil, fmt.Errorf("stored password has an invalid cost: %q", parts[3])
	}
	if c.memoryKiB > 1<<20 || c.passes == 0 || c.passes > 64 || c.lanes == 0 {
		return c, nil, nil, fmt.Errorf("stored password exceeds the maximum cost: %q", parts[3])
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, nil, nil, fmt.Errorf("decode the salt of a stored password: %w", err)
	}
	if hash, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return c, nil, nil, fmt.Errorf("decode a stored password: %w", err)
	}
	return c, salt, hash, nil
}
