package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/provider"
	"sluice/internal/resource"
	"sluice/internal/sealed"
)

// secretMappingIn is a mapping as clients send and see it.
// Source: contract/identity-and-governance.yaml, SecretMapping.
type secretMappingIn struct {
	Target    string  `json:"target_field" minLength:"1" maxLength:"255" doc:"key, or a provider field with its prefix: configurations.<field> of an integration, model_config.<field> of a virtual key"`
	Reference string  `json:"secret_reference_id" minLength:"1" maxLength:"255" doc:"Id or slug of a secret reference that the workspace may use"`
	Key       *string `json:"secret_key,omitempty" nullable:"true" maxLength:"255" doc:"Takes precedence over the secret_key of the reference"`
	Format    *string `json:"value_format,omitempty" nullable:"true" enum:"string,json"`
}

// secretMappingView is a mapping as clients see it.
type secretMappingView struct {
	Target    string  `json:"target_field"`
	Reference string  `json:"secret_reference_id" format:"uuid"`
	Key       *string `json:"secret_key" nullable:"true"`
	Format    *string `json:"value_format" nullable:"true" enum:"string,json"`
}

func viewMappings(list []sealed.Mapping) []secretMappingView {
	out := make([]secretMappingView, len(list))
	for i, m := range list {
		out[i] = secretMappingView{m.Target, m.Reference, orNull(m.Key), orNull(m.Format)}
	}
	return out
}

// mappings reads the mappings of a body, which replace the present ones. Each target must be a
// credential field of the provider. Each reference must be one that the workspace or, if
// workspaceID is empty, the organisation may use.
func (s secrets) mappings(ctx context.Context, c *resource.Call, sent resource.Sent, workspaceID, prefix string, present []sealed.Mapping) ([]sealed.Mapping, error) {
	return readMappings(ctx, c, sent, workspaceID, present, func(target, path string) (m sealed.Mapping, err error) {
		name := strings.TrimPrefix(target, prefix)
		m.Target, m.Field = prefix+name, provider.Key
		if name == provider.Key {
			m.Target = provider.Key
			return m, nil
		}
		m.Field, err = s.mappable(name, path)
		return m, err
	})
}

// readMappings reads the mappings of a body, which replace the present ones. Each field may
// appear once. Each reference must be one that the workspace or, if workspaceID is empty, the
// organisation may use. aim resolves a target.
func readMappings(ctx context.Context, c *resource.Call, sent resource.Sent, workspaceID string, present []sealed.Mapping, aim func(target, path string) (sealed.Mapping, error)) ([]sealed.Mapping, error) {
	if _, isSent := sent["secret_mappings"]; !isSent {
		return present, nil
	}
	var list []secretMappingIn
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
func takeReference(ctx context.Context, c *resource.Call, m *sealed.Mapping, sentMapping secretMappingIn, workspaceID, path string) error {
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

// mappable returns the credential field that a target names. Headers cannot be mapped, because
// they are not a single secret.
func (s secrets) mappable(name, path string) (string, error) {
	if long, ok := providerFields[name]; ok && s.field == "" {
		name = long
	}
	field, known := s.find(name)
	if !known || field == customHost || field == customHeaders {
		return "", fault.Newf(fault.InvalidParameter, "%s does not have this field to map", s.spec.ID).WithParam(path + ".target_field")
	}
	return field, nil
}

func noReference(path string) error {
	return fault.New(fault.InvalidParameter, "the secret reference does not exist, or the workspace does not have access to it").WithParam(path + ".secret_reference_id")
}

// stand adds placeholders for the values that mappings provide at call time, so that the other
// values can be checked.
func (v values) stand(mappings []sealed.Mapping) values {
	if len(mappings) == 0 {
		return v
	}
	out := values{}
	for name, raw := range v {
		out[name] = raw
	}
	for _, m := range mappings {
		if _, stored := out[m.Field]; !stored {
			out[m.Field] = json.RawMessage(`"mapped"`)
		}
	}
	return out
}

// referTo returns the reference of a record to the secret references of its mappings, which were
// looked up when the mappings were read.
func referTo[T any](mappings func(*T) []sealed.Mapping) resource.Ref[T] {
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
