package live

import (
	"encoding/binary"
	"maps"

	"sluice/internal/access"
	"sluice/internal/keys"
	"sluice/internal/tenant"
)

// leaves is how many parts a keyring has: with a hundred thousand keys a change copies
// about a hundred entries and the table of leaves, not all of them.
const leaves = 1024

// keyIndex finds keys by their hash. It never changes: a changed copy shares every leaf
// that it did not touch. The zero value is empty.
type keyIndex [leaves]map[keys.Hash]*keys.Entry

// shardOf says where a hash belongs; hashes are spread evenly as they are.
func shardOf(h keys.Hash) int { return int(binary.LittleEndian.Uint16(h[:])) % leaves }

// find returns the key of a hash, nil when there is none.
func (k *keyIndex) find(h keys.Hash) *keys.Entry { return k[shardOf(h)][h] }

// keyIndexBuilder is a keyring in the making.
type keyIndexBuilder struct {
	ring   *keyIndex
	copied [leaves]bool // leaves that no other ring shares
}

// copyOf begins with the keys of a ring, which stays as it is; nil is an empty one.
func copyOf(old *keyIndex) *keyIndexBuilder {
	f := &keyIndexBuilder{ring: new(keyIndex)}
	if old != nil {
		*f.ring = *old
	}
	return f
}

// writableShard is the leaf of a hash, to be written to.
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

// put adds a key under all its values.
func (f *keyIndexBuilder) put(e *keys.Entry) {
	for _, h := range e.Key.Hashes() {
		f.writableShard(h)[h] = e
	}
}

// drop takes a key away, except where a value leads to another key by now.
func (f *keyIndexBuilder) drop(e *keys.Entry) {
	for _, h := range e.Key.Hashes() {
		if now := f.ring.find(h); now != nil && now.Principal.ID == e.Principal.ID {
			delete(f.writableShard(h), h)
		}
	}
}

// ring is the keyring of the present parts: the old one with what has to do with the
// touched parts made anew, or all of it when old is nil.
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
			f.drop(e) // the workspace is gone: its keys open nothing
			continue
		}
		f.put(p.withUserRights(e, roles))
	}
	return f.ring
}

// affected are the keys that changed, or whose workspace or user did.
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

// touchedUsers are those who changed themselves or in a membership, the present or the
// former one.
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

// rolesOf are the roles of the users to whom some of the keys belong, by workspace.
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
