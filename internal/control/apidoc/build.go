package apidoc

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"
)

//go:embed models.yaml
var modelsYAML []byte

//go:embed operations.yaml
var operationsYAML []byte

//go:embed examples.yaml
var examplesYAML []byte

//go:embed errors.yaml
var errorsYAML []byte

// object is a JSON object of the description.
type object = map[string]any

// document is the description while it is built.
type document struct {
	root   object
	texts  map[string]string // description of each operation by its id
	errors []errorResponse
	seen   map[string]string // path of each operation by its id
	// described are the ids of operations.yaml that are in use.
	described map[string]bool
	samples   map[string]Sample // recorded
	written   map[string]Sample // of examples.yaml
}

// Build returns the complete description as indented JSON with sorted keys. types is the
// description of the administration as its types give it; samples are recorded calls by
// operation id, for example "createConfig". It fails when an operation lacks a
// description, an example or a scope statement, or when a text belongs to no operation.
func Build(types []byte, samples map[string]Sample) ([]byte, error) {
	d := &document{seen: make(map[string]string), described: make(map[string]bool), samples: samples}
	if err := json.Unmarshal(types, &d.root); err != nil {
		return nil, fmt.Errorf("read the description of the types: %w", err)
	}
	for _, read := range [...]func() error{d.addModels, d.readTexts, d.readErrors} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(d.completeAll(), d.checkTexts()); err != nil {
		return nil, err
	}
	tidySchemas(d.root["components"])
	tidySchemas(d.root["paths"])
	dropUnused(d.root)
	out, err := json.MarshalIndent(d.root, "", " ")
	return append(out, '\n'), err
}

func (d *document) readTexts() error {
	if err := yaml.UnmarshalWithOptions(operationsYAML, &d.texts, yaml.Strict()); err != nil {
		return fmt.Errorf("read operations.yaml: %w", err)
	}
	if err := decodeYAML(examplesYAML, &d.written); err != nil {
		return fmt.Errorf("read examples.yaml: %w", err)
	}
	return nil
}

// checkTexts reports descriptions whose operation is gone.
func (d *document) checkTexts() error {
	var problems []error
	for id := range sortedKeys(d.texts) {
		if !d.described[id] {
			problems = append(problems, fmt.Errorf("operations.yaml describes %s, which does not exist", id))
		}
	}
	return errors.Join(problems...)
}

// sortedKeys ranges over the keys of a map in order.
func sortedKeys[V any](m map[string]V) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}

// decodeYAML decodes YAML into the types of encoding/json, so that both sources of the
// description merge.
func decodeYAML(raw []byte, into any) error {
	asJSON, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(asJSON, into)
}
