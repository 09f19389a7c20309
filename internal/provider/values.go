package provider

import (
	"encoding/json"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Key is the name of the main secret in Values: the credential of the Authorization header, or
// the secret of a stored provider.
const Key = "key"

// Values are the credential fields of one target by snake_case name, for example {"key": "…",
// "azure_resource_name": "contoso"}. They contain secrets, so printing or logging a Values
// shows only the names. They belong to one goroutine.
type Values map[string]string

// String returns the names that are set.
func (v Values) String() string {
	return "values[" + strings.Join(slices.Sorted(maps.Keys(v)), " ") + "]"
}

// GoString is String, for %#v.
func (v Values) GoString() string { return v.String() }

// LogValue is String, for log/slog.
func (v Values) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalJSON encodes String, so the JSON of a Values contains no secret.
func (v Values) MarshalJSON() ([]byte, error) { return json.Marshal(v.String()) }

// ReadHeaders reads the provider's own fields from a client's headers, for example
// x-gateway-azure-resource-name or openai-beta. Header names are as the gateway normalises
// them: lower case, every accepted prefix written x-gateway-.
// It does not replace a value that is already in v. Fill v from the most trusted source first,
// so that a caller cannot use a stored key with another resource.
// Source: contract/dataplane.md 1.2.
func (s *Spec) ReadHeaders(h wire.Header, v Values) {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Deployment || v[f.Name] != "" {
			continue
		}
		for _, name := range f.Headers {
			if val := h.Get(name); val != "" {
				v[f.Name] = val
				break
			}
		}
	}
}

// Reads reports whether a field of the provider is read from the header with that lower-case
// name, for example anthropic-beta. The field then determines what is sent in this header.
func (s *Spec) Reads(header string) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return slices.Contains(f.Headers, header) })
}

// FromTarget reads the provider's fields from a config target or a stored provider: names and
// aliases of Field (also "api_key" for the key), custom_host and custom_headers (a JSON
// object). It omits fields that the provider does not use. It does not replace a value that is
// already in v.
// Source: contract/dataplane.md 3.3.
func (s *Spec) FromTarget(fields map[string]string, v Values) {
	for name, val := range fields {
		if val == "" {
			continue
		}
		if name == customHost || name == customHeaders {
			setAbsent(v, name, val)
			continue
		}
		if i, ok := s.fields[name]; ok && !s.Fields[i].Deployment {
			setAbsent(v, s.Fields[i].Name, val)
		}
	}
}

// Fields of every provider. Source: contract/providers.yaml, integration_configurations.any.
const (
	customHost    = "custom_host"
	customHeaders = "custom_headers"
)

func setAbsent(v Values, name, val string) {
	if v[name] == "" {
		v[name] = val
	}
}

// Serves reports whether the provider has the endpoint, in any dialect.
func (s *Spec) Serves(e llm.Endpoint) bool {
	_, ok := s.Endpoints[e]
	return ok || e == llm.Proxy
}

// NamesHost reports whether the field is a URL that replaces the complete host of a call. The
// person who sets the field then decides where the credential is sent.
func (f *Field) NamesHost() bool { return class(f.Class) == classURL }

// Served yields each endpoint of the provider with its dialect, in every form that the spec's
// variants give it.
func (s *Spec) Served() iter.Seq2[llm.Endpoint, Dialect] {
	return func(yield func(llm.Endpoint, Dialect) bool) {
		for i := range s.shapes {
			for name, e := range s.shapes[i].endpoints {
				if !yield(name, e.Dialect) {
					return
				}
			}
		}
	}
}
