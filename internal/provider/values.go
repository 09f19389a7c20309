package provider

import (
	"encoding/json"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/wire"
)

// Key is the name of the main secret in Values: what Authorization carried, or
// the secret of a stored provider.
const Key = "key"

// Values are the credential fields of one target by snake_case name, for example
// {"key": "…", "azure_resource_name": "contoso"}. They hold secrets: a Values
// prints and logs as its names alone. They belong to one goroutine.
type Values map[string]string

// String lists the names that are set.
func (v Values) String() string {
	return "values[" + strings.Join(slices.Sorted(maps.Keys(v)), " ") + "]"
}

// GoString is String, for %#v.
func (v Values) GoString() string { return v.String() }

// LogValue is String, for log/slog.
func (v Values) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalJSON writes String, so that an encoded Values holds no secret.
func (v Values) MarshalJSON() ([]byte, error) { return json.Marshal(v.String()) }

// ReadHeaders takes the provider's own fields from a client's headers, for example
// x-gateway-azure-resource-name or openai-beta. Header names are as the gateway
// normalises them: lower case, every accepted prefix written x-gateway-.
//
// A value that v already has stays: fill v from the most trusted source first, so
// that a caller cannot turn a stored key to a resource of its own.
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

// Reads reports whether a field of the provider comes in the header of that lower-case
// name, for example anthropic-beta, so that what is sent of it is the field's business.
func (s *Spec) Reads(header string) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return slices.Contains(f.Headers, header) })
}

// FromTarget takes the provider's fields from a config target or a stored
// provider: names and aliases of Field (also "api_key" for the key), custom_host
// and custom_headers (a JSON object). What the provider has no use for is left
// out. A value that v already has stays.
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

// NamesHost reports whether the field is a URL that stands for the whole host of a
// call, so that whoever sets it decides where the credential goes.
func (f *Field) NamesHost() bool { return class(f.Class) == classURL }

// Served yields each endpoint that the provider serves with the dialect it speaks
// there, in every form that the spec's variants give it.
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
