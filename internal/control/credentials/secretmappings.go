package credentials

import (
	"context"
	"encoding/json"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/secretmapping"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/provider"
)

// mappings reads the mappings of a body, which replace the present ones. Each target must be a
// credential field of the provider. Each reference must be one that the workspace or, if
// workspaceID is empty, the organisation may use.
func (s secrets) mappings(ctx context.Context, c *resource.Call, sent resource.Sent, workspaceID, prefix string, present []sealed.Mapping) ([]sealed.Mapping, error) {
	return secretmapping.Read(ctx, c, sent, workspaceID, present, func(target, path string) (m sealed.Mapping, err error) {
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
