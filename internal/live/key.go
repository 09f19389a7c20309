package live

import (
	"encoding/json"

	"sluice/internal/access"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// scopeSets are the sets of scopes in use, by the JSON list that they were read from:
// a hundred thousand keys have a few different ones.
type scopeSets map[string]access.Scopes

// maxScopeSets bounds what is remembered; beyond it remembering begins anew.
const maxScopeSets = 10_000

func (s scopeSets) of(list []byte) (access.Scopes, error) {
	if set, known := s[string(list)]; known {
		return set, nil
	}
	var scopes []string
	if len(list) > 0 {
		if err := json.Unmarshal(list, &scopes); err != nil {
			return nil, err
		}
	}
	if len(s) >= maxScopeSets {
		clear(s)
	}
	set := access.NewScopes(scopes...)
	s[string(list)] = set
	return set, nil
}

// decodeKey leaves out of a key what no request needs: the list of its scopes, which
// stand in its principal, and its sealed values. The list is most of a body, so it is
// taken out before the rest is read.
func decodeKey(d *Directory, r resource.Record) (any, error) {
	e := &keys.Entry{Status: r.Status}
	rest, list := keys.WithoutScopes(d.scratch, r.Body)
	if len(list) > 0 {
		d.scratch = rest
	}
	if err := json.Unmarshal(rest, &e.Key); err != nil {
		return nil, err
	}
	scopes, err := d.scopes.of(list)
	if err != nil {
		return nil, err
	}
	if e.Key.Secret.Sealed = nil; e.Key.Previous != nil {
		e.Key.Previous.Sealed = nil
	}
	e.Principal = access.Principal{
		Kind: access.ByKey, ID: r.ID, Name: r.Name, KeyType: e.Key.Type, OrgID: r.OrgID,
		WorkspaceID: r.WorkspaceID, UserID: e.Key.UserID, Scopes: scopes,
	}
	return e, nil
}
