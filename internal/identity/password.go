// Package identity is how people prove who they are: passwords of a local
// installation, the sessions that a login opens, and the pace at which guesses are
// taken.
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

	"sluice/internal/fault"
	"sluice/internal/sealed"
)

// LoginKind is the kind of the stored record of a password.
const LoginKind = "login"

// Login is the stored body of a password: apart from the user, so that what follows
// users never carries it.
type Login struct {
	UserID string `json:"user_id"`
	Hash   string `json:"hash"` // "$argon2id$v=19$m=19456,t=2,p=1$salt$sum"
}

// The length of a password: in characters at least, in bytes at most.
const (
	MinPassword = 12
	MaxPassword = 1024
)

// cost is what one hash takes: 19 MiB and two passes, the least that OWASP's Password
// Storage Cheat Sheet (2026) recommends for argon2id.
type cost struct {
	memoryKiB, passes uint32
	lanes             uint8
}

var present = cost{19456, 2, 1}

const (
	saltBytes = 16
	hashBytes = 32
)

// Passwords hashes and checks passwords, a few at a time, so that a crowd at the login
// takes neither all memory nor all processors. Safe for concurrent use.
type Passwords struct{ turns chan struct{} }

// NewPasswords makes one that works at most as many at a time as half the processors.
func NewPasswords() *Passwords {
	return &Passwords{make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// Check says whether a password may be set: fault.InvalidParameter at the field.
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

// Hash returns the encoded form that is stored.
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

// Matches reports whether a password belongs to an encoded form. With the empty form,
// that of nobody, it takes as long and says no: a stranger learns nothing from time.
// Allowed is asked when the guess has its turn, and its error ends it: of a crowd that waits
// nobody is hashed for once there were too many wrong guesses.
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

// deriveKey hashes when it is its turn, unless allowed fails by then; nil asks nobody.
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

// parse reads an encoded form. What it asks for is bounded, so that a bad row of the
// database cannot take the memory of the program.
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
