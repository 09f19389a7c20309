package placeholder

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Sealer encrypts stored values. The context is authenticated. sealed.Sealer is one.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(data []byte, context string) ([]byte, error)
}

// Backend stores sealed vaults. It is safe for concurrent use. Memory and vaultstore.Redis are two. One
// that is down or hangs returns an error within milliseconds.
type Backend interface {
	// Get returns the value of a key, nil without one or after its expiry. The caller may not change it.
	Get(ctx context.Context, key string) ([]byte, error)
	// Swap stores a value for a duration if the present value of the key is old, nil for none. It
	// reports false if there is another one. The key has the form "<caller>/<conversation>", both as 32
	// hexadecimal digits: a bound for each caller uses the first part. The value is not changed
	// afterwards.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
}

// Options configure a Store.
type Options struct {
	Secret  []byte // from which placeholders and keys are derived, at least 16 bytes; equal on all nodes
	Sealer  Sealer
	Backend Backend
	TTL     time.Duration // how long a vault is available after it was saved
	Now     func() time.Time
}

const (
	maxIDs   = 16 // ids that Open and Save use; further ones are ignored
	maxSwaps = 32 // tries to store a conversation that other calls change at the same time
)

// errBusy means that other calls changed a conversation in each try.
var errBusy = errors.New("too many calls of one conversation at the same time")

// Store saves vaults for later turns: sealed, for each caller, for a bounded time. It is safe for
// concurrent use.
type Store struct {
	Options
	failures [2]atomic.Int64 // by operation
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
// error the vault is usable, but lacks values of earlier calls. A backend that fails is not called
// again for the other ids.
func (s *Store) Open(ctx context.Context, scope Scope, ids ...string) (*Vault, error) {
	v := NewVault(s.Secret, scope)
	var errs []error
	for _, id := range ids[:min(len(ids), maxIDs)] {
		stored, err := s.load(ctx, s.key(scope, id))
		v.merge(stored.entries)
		if err != nil {
			errs = append(errs, err)
			s.failures[loading].Add(1)
		}
		if stored.failed {
			break
		}
	}
	return v, errors.Join(errs...)
}

// Save stores the values of a vault under the ids by which later calls of the caller refer to this
// one: the id of its response, its trace id. The values of concurrent calls under the same id are
// merged, also those of other nodes. An empty
// vault and empty ids are not stored. After an error the other ids are not stored either.
func (s *Store) Save(ctx context.Context, scope Scope, v *Vault, ids ...string) error {
	entries := v.list()
	if len(entries) == 0 {
		return nil
	}
	var errs []error
	for _, id := range ids[:min(len(ids), maxIDs)] {
		if id == "" {
			continue
		}
		if err := s.save(ctx, scope, entries, s.key(scope, id)); err != nil {
			s.failures[saving].Add(1)
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

// save merges entries with those that are stored under a key.
func (s *Store) save(ctx context.Context, scope Scope, entries []entry, key string) error {
	for range maxSwaps {
		stored, err := s.load(ctx, key)
		if stored.failed {
			return err
		} // else values that cannot be opened are replaced
		merged := NewVault(s.Secret, scope)
		merged.merge(entries)
		merged.merge(stored.entries)
		data, err := s.Sealer.Seal(encode(merged.list(), s.Now().Add(s.TTL)), key)
		if err != nil {
			return fmt.Errorf("seal placeholders: %w", err)
		}
		done, err := s.Backend.Swap(ctx, key, stored.data, data, s.TTL)
		if err != nil {
			return fmt.Errorf("store placeholders: %w", err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("store placeholders: %w", errBusy)
}

// storedVault is what a backend has under a key.
type storedVault struct {
	data    []byte // sealed; nil for none
	entries []entry
	failed  bool // the backend cannot be used
}

// load returns what is stored under a key. After its expiry it has no entries.
func (s *Store) load(ctx context.Context, key string) (v storedVault, err error) {
	if v.data, err = s.Backend.Get(ctx, key); err != nil {
		v.failed = true
		return v, fmt.Errorf("load placeholders: %w", err)
	}
	if len(v.data) == 0 {
		return v, nil
	}
	plain, err := s.Sealer.Open(v.data, key)
	if err != nil {
		return v, fmt.Errorf("open placeholders: %w", err)
	}
	entries, expires, err := decode(plain)
	if err == nil && s.Now().Before(expires) {
		v.entries = entries
	}
	return v, err
}

// key returns the key of a caller's conversation. It does not contain the ids.
func (s *Store) key(scope Scope, id string) string {
	caller := digest(s.Secret, "caller", scope.Organisation, scope.Workspace, scope.Caller)
	return hex.EncodeToString(caller[:16]) + "/" + hex.EncodeToString(digest(caller, "conversation", id)[:16])
}
