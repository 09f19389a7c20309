package live

import (
	"encoding/json"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/sealed"
)

// reference contains the fields of a secret reference that calls need, and who may use it.
type reference struct {
	org    string
	stored credential.SecretReference
	source credential.SecretSource
}

func decodeReference(d *Directory, r resource.Record) (any, error) {
	ref := &reference{org: r.OrgID}
	if err := json.Unmarshal(r.Body, &ref.stored); err != nil {
		return nil, err
	}
	plain, err := d.box.Open(ref.stored.Auth, credential.ReferenceContext(r.ID))
	if err != nil {
		return nil, fmt.Errorf("decrypt sign-in settings: %w", err)
	}
	ref.source = credential.SecretSource{RecordID: r.ID, Revision: r.Version, Manager: ref.stored.Manager, Path: ref.stored.Path}
	if err := json.Unmarshal(plain, &ref.source.Auth); err != nil {
		return nil, fmt.Errorf("read sign-in settings: %w", err)
	}
	return ref, nil
}

// secretUses compiles mappings for calls from a workspace. A mapping whose reference was
// deleted, or is not for the workspace, has no source: a call that needs it fails.
func (p parts) secretUses(org, workspace string, mappings []sealed.Mapping) []credential.SecretUse {
	if len(mappings) == 0 {
		return nil
	}
	uses := make([]credential.SecretUse, len(mappings))
	for i, m := range mappings {
		uses[i] = credential.SecretUse{Field: m.Field, Key: m.Key, Format: m.Format}
		ref, ok := p[credential.SecretReferenceKind][m.Reference].(*reference)
		if !ok || ref.org != org || !ref.stored.VisibleTo(workspace) {
			continue
		}
		uses[i].Source = &ref.source
		if m.Key == "" {
			uses[i].Key = ref.stored.Key
		}
	}
	return uses
}
