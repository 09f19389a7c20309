package live

import (
	"encoding/binary"
	"maps"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
)

// leaves is the number of shards of a keyIndex. With a hundred thousand keys a change copies
// about a hundred entries and the table of shards, not all entries.
const leaves = 1024

// keyIndex maps key hashes to keys. It is immutable. An updated copy shares every unchanged
// shard. The zero value is empty.
type keyIndex [leaves]map[keys.Hash]*keys.Entry

// shardOf returns the shard of a hash. Hashes are evenly distributed.
func shardOf(h keys.Hash) int { return int(binary.LittleEndian.Uint16(h[:])) % leaves }

// find returns the key with a hash, nil if there is none.
func (k *keyIndex) find(h keys.Hash) *keys.Entry { return k[shardOf(h)][h] }

// keyIndexBuilder builds a keyIndex.
type keyIndexBuilder struct {
	ring   *keyIndex
	copied [leaves]bool // shards that no other index shares
}

// copyOf starts with the keys of old, which it does not change. Nil means an empty index.
func copyOf(old *keyIndex) *keyIndexBuilder {
	f := &keyIndexBuilder{ring: new(keyIndex)}
	if old != nil {
		*f.ring = *old
	}
	return f
}

// writableShard returns the shard of a hash for writing.
func (f *keyIndexBuilder) writableShard(h keys.Hash) map[keys.Hash]*keys.Entry {
	i := shardOf(h)
	switch {
	case f.copied[i]:
	case f.ring[i] == nil:
		f.ring[i] = make(map[keys.Hash]*keys.Entry)
	default:
		f.ring[i] = maps.Clone(f.ring[i])
	}
	f.copied[i] = true
	return f.ring[i]
}

// put adds a key under the hashes of all its values.
func (f *keyIndexBuilder) put(e *keys.Entry) {
	for _, h := range e.Key.Hashes() {
		f.writableShard(h)[h] = e
	}
}

// drop removes a key, except hashes that now belong to another key.
func (f *keyIndexBuilder) drop(e *keys.Entry) {
	for _, h := range e.Key.Hashes() {
		if now := f.ring.find(h); now != nil && now.Principal.ID == e.Principal.ID {
			delete(f.writableShard(h), h)
		}
	}
}

// ring returns the keyIndex of the current parts: the old one with everything updated that
// depends on changed parts, or a new one if old is nil.
func (p parts) ring(old *keyIndex, t changedParts) *keyIndex {
	f, due := copyOf(old), p[keys.Kind]
	if old != nil {
		for _, was := range t[keys.Kind] {
			if was != nil {
				f.drop(was.(*keys.Entry))
			}
		}
		due = p.affected(t)
	}
	roles := p.rolesOf(due)
	for _, v := range due {
		e := v.(*keys.Entry)
		if workspaceID := e.Principal.WorkspaceID; workspaceID != "" && p[tenant.WorkspaceKind][workspaceID] == nil {
			f.drop(e) // the workspace was deleted: its keys are not valid
			continue
		}
		f.put(p.withUserRights(e, roles))
	}
	return f.ring
}

// affected returns the keys that changed, or whose workspace or user did.
func (p parts) affected(t changedParts) map[string]any {
	if len(t[tenant.OrganisationKind]) > 0 {
		return p[keys.Kind]
	}
	due := make(map[string]any, len(t[keys.Kind]))
	for id := range t[keys.Kind] {
		if v, there := p[keys.Kind][id]; there {
			due[id] = v
		}
	}
	users := p.touchedUsers(t)
	if len(users) == 0 && len(t[tenant.WorkspaceKind]) == 0 {
		return due
	}
	for id, v := range p[keys.Kind] {
		e := v.(*keys.Entry)
		_, moved := t[tenant.WorkspaceKind][e.Principal.WorkspaceID]
		if moved || e.Key.UserID != "" && users[e.Key.UserID] {
			due[id] = v
		}
	}
	return due
}

// touchedUsers returns the users that changed, and those whose membership changed, before or
// after the change.
func (p parts) touchedUsers(t changedParts) map[string]bool {
	users := make(map[string]bool)
	for id := range t[tenant.UserKind] {
		users[id] = true
	}
	for id, was := range t[tenant.MemberKind] {
		for _, v := range [...]any{was, p[tenant.MemberKind][id]} {
			if m, ok := v.(*member); ok {
				users[m.UserID] = true
			}
		}
	}
	return users
}

// rolesOf returns the roles of the users that own some of the keys, by workspace.
func (p parts) rolesOf(some map[string]any) map[string]map[string]access.Role {
	roles := make(map[string]map[string]access.Role)
	for _, v := range some {
		if u := v.(*keys.Entry).Key.UserID; u != "" && roles[u] == nil {
			roles[u] = make(map[string]access.Role)
		}
	}
	if len(roles) == 0 {
		return roles
	}
	for _, v := range p[tenant.MemberKind] {
		if m := v.(*member); roles[m.UserID] != nil {
			roles[m.UserID][m.workspace] = m.Role
		}
	}
	return roles
}
