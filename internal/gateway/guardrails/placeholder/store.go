package placeholder

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Sealer encrypts stored values. The context is authenticated. sealed.Sealer is one.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(data []byte, context string) ([]byte, error)
}

// Backend stores sealed vaults. It is safe for concurrent use. Memory is one.
type Backend interface {
	// Get returns the value of a key, nil without one or after its expiry. The caller may not change it.
	Get(ctx context.Context, key string) ([]byte, error)
	// Put stores a value for a duration and replaces an earlier one. The key has the form
	// "<caller>/<conversation>", both as 32 hexadecimal digits: a bound for each caller uses the first
	// part. The value is not changed afterwards.
	Put(ctx context.Context, key string, value []byte, ttl time.Duration) error
}

// Options configure a Store.
type Options struct {
	Secret  []byte // from which placeholders and keys are derived, at least 16 bytes; equal on all nodes
	Sealer  Sealer
	Backend Backend
	TTL     time.Duration // how long a vault is available after it was saved
	Now     func() time.Time
}

// maxIDs is the number of ids that Open and Save use; further ones are ignored.
const maxIDs = 16

// Store saves vaults for later turns: sealed, for each caller, for a bounded time. It is safe for
// concurrent use.
type Store struct {
	Options
	locks [64]sync.Mutex // by key: saving reads and writes an entry
}

// NewStore returns a store. The error names the option to fix.
func NewStore(o Options) (*Store, error) {
	switch {
	case len(o.Secret) < 16:
		return nil, fmt.Errorf("secret of %d bytes is too short, 16 bytes are required", len(o.Secret))
	case o.Sealer == nil || o.Backend == nil || o.Now == nil:
		return nil, errors.New("sealer, backend and now are required")
	case o.TTL <= 0:
		return nil, errors.New("ttl must be positive")
	}
	return &Store{Options: o}, nil
}

// Open returns a vault for a call, with the values that the same caller sent in the conversations
// with these ids: its previous response, its trace. The ids come from the client; those of another
// caller have no values. The order counts: the first id decides where two vaults differ. With an
// error the vault is usable, but lacks values of earlier calls.
func (s *Store) Open(ctx context.Context, scope Scope, ids ...string) (*Vault, error) {
	v := NewVault(s.Secret, scope)
	var errs []error
	for _, id := range ids[:min(len(ids), maxIDs)] {
		entries, err := s.load(ctx, s.key(scope, id))
		if err != nil {
			errs = append(errs, err)
		}
		v.merge(entries)
	}
	return v, errors.Join(errs...)
}

// Save stores the values of a vault under the ids by which later calls of the caller refer to this
// one: the id of its response, its trace id. The values of concurrent calls under the same id are
// merged. An empty vault and empty ids are not stored.
func (s *Store) Save(ctx context.Context, scope Scope, v *Vault, ids ...string) error {
	entries := v.list()
	if len(entries) == 0 {
		return nil
	}
	var errs []error
	for _, id := range ids[:min(len(ids), maxIDs)] {
		if id != "" {
			errs = append(errs, s.save(ctx, scope, entries, s.key(scope, id)))
		}
	}
	return errors.Join(errs...)
}

// save merges entries with those that are stored under a key.
func (s *Store) save(ctx context.Context, scope Scope, entries []entry, key string) error {
	lock := &s.locks[lockIndex(key, len(s.locks))]
	lock.Lock()
	defer lock.Unlock()
	merged := NewVault(s.Secret, scope)
	merged.merge(entries)
	if stored, err := s.load(ctx, key); err == nil {
		merged.merge(stored)
	}
	data, err := s.Sealer.Seal(encode(merged.list(), s.Now().Add(s.TTL)), key)
	if err != nil {
		return fmt.Errorf("seal placeholders: %w", err)
	}
	if err := s.Backend.Put(ctx, key, data, s.TTL); err != nil {
		return fmt.Errorf("store placeholders: %w", err)
	}
	return nil
}

// load returns the entries under a key, none without them or after their expiry.
func (s *Store) load(ctx context.Context, key string) ([]entry, error) {
	data, err := s.Backend.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("load placeholders: %w", err)
	}
	if len(data) == 0 {
		return nil, nil
	}
	plain, err := s.Sealer.Open(data, key)
	if err != nil {
		return nil, fmt.Errorf("open placeholders: %w", err)
	}
	entries, expires, err := decode(plain)
	if err != nil || !s.Now().Before(expires) {
		return nil, err
	}
	return entries, nil
}

// key returns the key of a caller's conversation. It does not contain the ids.
func (s *Store) key(scope Scope, id string) string {
	caller := digest(s.Secret, "caller", scope.Organisation, scope.Workspace, scope.Caller)
	return hex.EncodeToString(caller[:16]) + "/" + hex.EncodeToString(digest(caller, "conversation", id)[:16])
}

// lockIndex returns the index of the lock of a key, from its last hexadecimal digits.
func lockIndex(key string, n int) int {
	sum := 0
	for i := len(key) - 4; i < len(key); i++ {
		sum = sum*31 + int(key[i])
	}
	return sum % n
}
