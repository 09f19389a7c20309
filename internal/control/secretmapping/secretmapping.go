package secretmapping

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// SecretMappingIn is a mapping as clients send and see it.
// Source: contract/identity-and-governance.yaml, SecretMapping.
type SecretMappingIn struct {
	Target    string  `json:"target_field" minLength:"1" maxLength:"255" doc:"key, or a provider field with its prefix: configurations.<field> of an integration, model_config.<field> of a virtual key"`
	Reference string  `json:"secret_reference_id" minLength:"1" maxLength:"255" doc:"Id or slug of a secret reference that the workspace may use"`
	Key       *string `json:"secret_key,omitempty" nullable:"true" maxLength:"255" doc:"Takes precedence over the secret_key of the reference"`
	Format    *string `json:"value_format,omitempty" nullable:"true" enum:"string,json"`
}

// SecretMappingView is a mapping as clients see it.
type SecretMappingView struct {
	Target    string  `json:"target_field"`
	Reference string  `json:"secret_reference_id" format:"uuid"`
	Key       *string `json:"secret_key" nullable:"true"`
	Format    *string `json:"value_format" nullable:"true" enum:"string,json"`
}

// View shows mappings to clients.
func View(list []sealed.Mapping) []SecretMappingView {
	out := make([]SecretMappingView, len(list))
	for i, m := range list {
		out[i] = SecretMappingView{m.Target, m.Reference, jsonfield.OrNull(m.Key), jsonfield.OrNull(m.Format)}
	}
	return out
}

// Read reads the mappings of a body, which replace the present ones. Each field may
// appear once. Each reference must be one that the workspace or, if workspaceID is empty, the
// organisation may use. aim resolves a target.
func Read(ctx context.Context, c *resource.Call, sent resource.Sent, workspaceID string, present []sealed.Mapping, aim func(target, path string) (sealed.Mapping, error)) ([]sealed.Mapping, error) {
	if _, isSent := sent["secret_mappings"]; !isSent {
		return present, nil
	}
	var list []SecretMappingIn
	if err := sent.Into("secret_mappings", &list); err != nil {
		return nil, err
	}
	out := make([]sealed.Mapping, 0, len(list))
	for i, sentMapping := range list {
		path := fmt.Sprintf("secret_mappings[%d]", i)
		m, err := aim(sentMapping.Target, path)
		if err != nil {
			return nil, err
		}
		if err := takeReference(ctx, c, &m, sentMapping, workspaceID, path); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o sealed.Mapping) bool { return o.Field == m.Field }) {
			return nil, fault.New(fault.InvalidParameter, "the field is mapped twice").WithParam(path + ".target_field")
		}
		out = append(out, m)
	}
	return out, nil
}

// takeReference reads the location of a mapping's secret.
func takeReference(ctx context.Context, c *resource.Call, m *sealed.Mapping, sentMapping SecretMappingIn, workspaceID, path string) error {
	ref, err := c.Refer(ctx, credential.SecretReferenceKind, "", sentMapping.Reference, path+".secret_reference_id")
	if fault.Has(err, fault.ReferenceMissing) {
		return noReference(path)
	}
	if err != nil {
		return err
	}
	var body credential.SecretReference
	if err := json.Unmarshal(ref.Body, &body); err != nil {
		return fmt.Errorf("read secret reference %s: %w", ref.ID, err)
	}
	if ref.OrgID != c.OrgID || workspaceID != "" && !body.VisibleTo(workspaceID) {
		return noReference(path)
	}
	m.Reference = ref.ID
	if sentMapping.Key != nil {
		m.Key = *sentMapping.Key
	}
	if sentMapping.Format != nil {
		m.Format = *sentMapping.Format
	}
	return nil
}

func noReference(path string) error {
	return fault.New(fault.InvalidParameter, "the secret reference does not exist, or the workspace does not have access to it").WithParam(path + ".secret_reference_id")
}

// Ref returns the reference of a record to the secret references of its mappings, which were
// looked up when the mappings were read.
func Ref[T any](mappings func(*T) []sealed.Mapping) resource.Ref[T] {
	return resource.Ref[T]{Kind: credential.SecretReferenceKind, All: func(ctx context.Context, c *resource.Call, r *resource.Row[T]) ([]*resource.Record, error) {
		var found []*resource.Record
		for _, m := range mappings(&r.Value) {
			ref, err := c.Reader.Find(ctx, credential.SecretReferenceKind, m.Reference)
			if fault.Has(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found = append(found, &ref)
		}
		return found, nil
	}}
}
