package live

import (
	"bytes"
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
)

// scopeSets caches sets of scopes by the JSON list that they were read from. A hundred
// thousand keys have a few different sets.
type scopeSets struct {
	known map[string]scopeSet
	last  scopeSet // likely to be the set of the next key too
}

// scopeSet is a set and its list.
type scopeSet struct {
	list []byte
	set  access.Scopes
}

// maxScopeSets is the maximum number of cached sets; beyond it the cache is cleared.
const maxScopeSets = 10_000

func newScopeSets() scopeSets { return scopeSets{known: make(map[string]scopeSet)} }

// find returns the set of a list. It does not retain list.
func (s *scopeSets) find(list []byte) (access.Scopes, error) {
	if one, known := s.known[string(list)]; known {
		s.last = one
		return one.set, nil
	}
	var scopes []string
	if len(list) > 0 {
		if err := json.Unmarshal(list, &scopes); err != nil {
			return nil, err
		}
	}
	if len(s.known) >= maxScopeSets {
		clear(s.known)
	}
	s.last = scopeSet{bytes.Clone(list), access.NewScopes(scopes...)}
	s.known[string(list)] = s.last
	return s.last.set, nil
}

// texts stores strings that many records share, such as the id of their workspace, so that
// each is in memory once.
type texts map[string]string

// maxTexts is the maximum number of stored strings; beyond it they are cleared.
const maxTexts = 10_000

// same returns the stored string that is equal to s.
func (t texts) same(s string) string {
	if first, known := t[s]; known {
		return first
	}
	if len(t) >= maxTexts {
		clear(t)
	}
	t[s] = s
	return s
}

// decodeKey omits fields of a key that no request needs: the list of its scopes, which are in
// its principal, and its sealed values.
func decodeKey(d *Directory, r resource.Record) (any, error) {
	e := &keys.Entry{Status: d.texts.same(r.Status)}
	list, err := e.Key.ReadUsed(r.Body, d.scopes.last.list)
	if err != nil {
		return nil, err
	}
	scopes, err := d.scopes.find(list)
	if err != nil {
		return nil, err
	}
	e.Principal = access.Principal{
		Kind: access.ByKey, ID: r.ID, Name: r.Name, KeyType: e.Key.Type, OrgID: d.texts.same(r.OrgID),
		WorkspaceID: d.texts.same(r.WorkspaceID), UserID: e.Key.UserID, Scopes: scopes, Expires: e.Key.ExpiresAt,
	}
	return e, nil
}
