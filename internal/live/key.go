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

func (s scopeSets) of(list json.RawMessage) (access.Scopes, error) {
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

// storedKey reads a key without the list of its scopes, which stand in its principal,
// and without its sealed values, which no request needs.
type storedKey struct {
	*keys.Key
	Scopes   json.RawMessage `json:"scopes"`
	Secret   storedSecret    `json:"secret"`
	Previous *storedSecret   `json:"previous"`
}

type storedSecret struct {
	keys.Secret
	Sealed json.RawMessage `json:"sealed"`
}

func decodeKey(d *Directory, r resource.Record) (any, error) {
	e := &keys.Entry{Status: r.Status}
	stored := storedKey{Key: &e.Key}
	if err := json.Unmarshal(r.Body, &stored); err != nil {
		return nil, err
	}
	scopes, err := d.scopes.of(stored.Scopes)
	if err != nil {
		return nil, err
	}
	e.Key.Secret = stored.Secret.Secret
	if stored.Previous != nil {
		e.Key.Previous = &stored.Previous.Secret
	}
	e.Principal = access.Principal{
		Kind: access.ByKey, ID: r.ID, Name: r.Name, KeyType: e.Key.Type, OrgID: r.OrgID,
		WorkspaceID: r.WorkspaceID, UserID: e.Key.UserID, Scopes: scopes,
	}
	return e, nil
}
