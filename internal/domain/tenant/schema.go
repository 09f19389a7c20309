package tenant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/internal/kernel/fault"
)

// Schemas are the required metadata of keys and workspaces of an organisation. Each is a JSON
// Schema of draft 7 for an object of strings, or nil.
// Source: contract/identity-and-governance.md section 3.
type Schemas struct {
	APIKey    json.RawMessage `json:"api_key_metadata_schema,omitempty"`
	Workspace json.RawMessage `json:"workspace_metadata_schema,omitempty"`
}

// maxSchemaBytes is the maximum size of a metadata schema.
const maxSchemaBytes = 64 << 10

// Validate checks that both schemas are usable. The error is fault.InvalidParameter at the
// property.
func (s Schemas) Validate() error {
	for _, one := range []struct {
		raw  json.RawMessage
		path string
	}{{s.APIKey, "properties.api_key_metadata_schema"}, {s.Workspace, "properties.workspace_metadata_schema"}} {
		if len(one.raw) == 0 {
			continue
		}
		if _, err := compile(one.raw); err != nil {
			return fault.Newf(fault.InvalidParameter, "must be a JSON Schema (draft 7) of an object of strings: %s", err).WithParam(one.path)
		}
	}
	return nil
}

// Fill adds the defaults of a schema to metadata and checks the result against the schema. It
// returns a new map. The error is fault.InvalidParameter at the field when metadata does not
// match. An empty schema accepts everything.
func Fill(schema json.RawMessage, metadata map[string]string, path string) (map[string]string, error) {
	if len(schema) == 0 {
		return metadata, nil
	}
	c, err := compile(schema)
	if err != nil {
		return nil, fmt.Errorf("compile a stored metadata schema: %w", err)
	}
	filled := maps.Clone(metadata)
	if filled == nil {
		filled = make(map[string]string)
	}
	for name, p := range c.Properties {
		if _, there := filled[name]; there || p.Default == nil {
			continue
		}
		if text, ok := (*p.Default).(string); ok {
			filled[name] = text
		}
	}
	doc := make(map[string]any, len(filled))
	for name, v := range filled {
		doc[name] = v
	}
	if err := c.Validate(doc); err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "the metadata does not match the schema of the organisation: %s", reason(err)).WithParam(path)
	}
	return filled, nil
}

// compile compiles a schema. It loads no references.
func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSchemaBytes)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := ofStrings(doc); err != nil {
		return nil, err
	}
	const here = "sluice:///metadata.json" // a relative URL would show the working directory in errors
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(nowhere{})
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(here)
	if err == nil && (counting{}).count(s, false) > maxSteps {
		return nil, fmt.Errorf("it has circular references, or more than %d referenced parts", maxSteps)
	}
	return s, err
}

// ofStrings checks that a schema has the form that the contract permits.
func ofStrings(doc any) error {
	top, ok := doc.(map[string]any)
	if !ok || top["type"] != "object" {
		return fmt.Errorf("its type must be object")
	}
	if more, set := top["additionalProperties"]; set && more != true {
		return fmt.Errorf("additionalProperties must be true")
	}
	properties, _ := top["properties"].(map[string]any)
	for name, p := range properties {
		if q, ok := p.(map[string]any); !ok || q["type"] != "string" {
			return fmt.Errorf("the type of %q must be string", name)
		}
	}
	return nil
}

// nowhere is a loader that refuses every reference of a schema.
type nowhere struct{}

// Load always returns an error.
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: references to other schemas are not allowed", url)
}

// reason returns the first cause in the library's error, on one line.
func reason(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "- ")
}
