package live

import (
	"bytes"
	"encoding/json"

	"sluice/internal/access"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// scopeSets are the sets of scopes in use, by the JSON list that they were read from:
// a hundred thousand keys have a few different ones.
type scopeSets struct {
	known map[string]scopeSet
	last  scopeSet // which the next key is likely to have too
}

// scopeSet is a set and its list.
type scopeSet struct {
	list []byte
	set  access.Scopes
}

// maxScopeSets bounds what is remembered; beyond it remembering begins anew.
const maxScopeSets = 10_000

func newScopeSets() scopeSets { return scopeSets{known: make(map[string]scopeSet)} }

// find returns the set of a list, which stays the caller's.
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

// texts are those that many records have in common, such as the id of their workspace:
// the copy holds each once.
type texts map[string]string

// maxTexts bounds what is remembered; beyond it remembering begins anew.
const maxTexts = 10_000

// same returns the text that was there first.
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

// decodeKey leaves out of a key what no request needs: the list of its scopes, which
// stand in its principal, and its sealed values.
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
