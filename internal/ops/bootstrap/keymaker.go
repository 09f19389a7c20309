package bootstrap

import (
	"encoding/json"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// KeyMaker makes records of API keys. It stores nothing.
type KeyMaker struct {
	Box    *sealed.Sealer
	Hasher *keys.Hasher
	Now    time.Time // when the records are created
	Prefix string    // API_KEY_PREFIX: "sk-"; the caller uses it for raw values
	// Index returns the index entries of a key.
	Index func(*keys.Key) []resource.IndexEntry
}

// Make returns the record of a key with the raw value raw and all scopes of its type.
// workspaceID is empty for a key of the organisation.
func (m KeyMaker) Make(raw, name string, t access.KeyType, orgID, workspaceID string) (resource.Record, error) {
	return m.MakeWithID(ident.NewID(), raw, name, t, orgID, workspaceID)
}

// MakeWithID works like Make, for a record with a chosen id.
func (m KeyMaker) MakeWithID(id, raw, name string, t access.KeyType, orgID, workspaceID string) (resource.Record, error) {
	shut, err := m.Box.Seal([]byte(raw), keys.Context(id))
	if err != nil {
		return resource.Record{}, err
	}
	k := keys.Key{
		Name: name, Type: t, Scopes: access.Allowed(t), CreationMode: "auto",
		Secret: keys.Secret{Hash: m.Hasher.Sum(raw), Sealed: shut, Masked: keys.Mask(raw)},
	}
	body, err := json.Marshal(k)
	if err != nil {
		return resource.Record{}, err
	}
	return resource.Record{
		Kind: keys.Kind, ID: id, OrgID: orgID, WorkspaceID: workspaceID, Name: name, Status: resource.Active, Version: 1,
		Created: m.Now, Updated: m.Now, Body: body, Index: m.Index(&k),
	}, nil
}
