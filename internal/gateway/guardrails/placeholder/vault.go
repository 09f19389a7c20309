package placeholder

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"
)

// Scope identifies the values that belong together.
type Scope struct {
	Organisation, Workspace string // ids
	Caller                  string // id of the API key or user
	// Conversation is an id that the client sends with each turn, such as its trace id. It is empty
	// without one, so that a caller's values have the same placeholders in all its calls. It may not be
	// an id that the gateway makes for each call: the provider's cached prefix would change.
	Conversation string
}

// Bounds of a vault. Values beyond them receive a placeholder that cannot be restored.
const (
	maxValues     = 10_000
	maxValueBytes = 1 << 20 // of all kinds, placeholders and values
)

// Lengths of parts of a placeholder in bytes.
const (
	maxKind    = 32
	digestStep = 6 // hexadecimal digits; a collision adds this number of digits
)

// Vault contains the values that one caller sent in one conversation. It is safe for concurrent
// use: both directions of a WebSocket may share one. Create one with NewVault or Store.Open.
type Vault struct {
	key []byte

	mu      sync.Mutex
	entries []entry
	size    int               // bytes of the entries
	names   map[source]string // placeholders
	values  map[string]string // by placeholder
	index   *index            // for restoring; nil after a change
}

// entry is a hidden value.
type entry struct{ kind, name, value string }

func (e *entry) size() int { return len(e.kind) + len(e.name) + len(e.value) }

// source identifies a value.
type source struct{ kind, value string }

// NewVault returns an empty vault. The placeholders depend on the secret, of at least 16 bytes, and
// the scope.
func NewVault(secret []byte, scope Scope) *Vault {
	return &Vault{
		key:    digest(secret, "placeholder", scope.Organisation, scope.Workspace, scope.Caller, scope.Conversation),
		names:  map[source]string{},
		values: map[string]string{},
	}
}

// Hide stores a value and returns its placeholder, for example [EMAIL_ADDRESS_7f3a9c] for the kind
// EMAIL_ADDRESS. Equal values of a kind have equal placeholders in all vaults of a scope.
func (v *Vault) Hide(kind, value string) string {
	kind = cleanKind(kind)
	v.mu.Lock()
	defer v.mu.Unlock()
	name, held := v.name(kind, value)
	if !held {
		v.add(entry{kind: kind, name: name, value: value})
	}
	return name
}

// Mask returns the placeholder that Hide returns, but does not store the value: it is not restored
// unless the caller sends it too. Use it for values that are not the caller's, such as those in a
// stored system prompt.
func (v *Vault) Mask(kind, value string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	name, _ := v.name(cleanKind(kind), value)
	return name
}

// Len returns the number of values that can be restored.
func (v *Vault) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.entries)
}

// name returns the placeholder of a value and whether the value is stored under it. Digits are
// added until no other value has the placeholder.
func (v *Vault) name(kind, value string) (name string, held bool) {
	if name, ok := v.names[source{kind, value}]; ok {
		return name, true
	}
	digits := hex.EncodeToString(digest(v.key, kind, value))
	for n := digestStep; ; n += digestStep {
		name = "[" + kind + "_" + digits[:min(n, len(digits))] + "]"
		if other, taken := v.values[name]; !taken || n >= len(digits) {
			return name, taken && other == value
		}
	}
}

// add stores a value unless the vault is full or the placeholder has another value.
func (v *Vault) add(e entry) {
	if len(v.entries) == maxValues || v.size+e.size() > maxValueBytes {
		return
	}
	if _, taken := v.values[e.name]; taken {
		return
	}
	v.entries = append(v.entries, e)
	v.size += e.size()
	v.values[e.name] = e.value
	if src := (source{e.kind, e.value}); v.names[src] == "" {
		v.names[src] = e.name
	}
	v.index = nil
}

// merge adds the values of an earlier vault.
func (v *Vault) merge(entries []entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range entries {
		v.add(e)
	}
}

// list returns a copy of the entries in their order.
func (v *Vault) list() []entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.entries)
}

// digest returns HMAC-SHA-256 of the parts, each with its length.
func digest(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// cleanKind returns a kind of capital letters, digits and underscores: "EMAIL_ADDRESS".
func cleanKind(kind string) string {
	out := []byte(kind[:min(len(kind), maxKind)])
	for i, c := range out {
		switch {
		case 'a' <= c && c <= 'z':
			out[i] = c - 'a' + 'A'
		case c < '0' || c > 'Z' || c > '9' && c < 'A':
			out[i] = '_'
		}
	}
	if len(out) == 0 {
		return "VALUE"
	}
	return string(out)
}
