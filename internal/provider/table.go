package provider

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sluice/internal/kernel/llm"
)

//go:embed specs/*.json
var specFiles embed.FS

// Table is the set of known providers. It is read-only and safe for concurrent use.
type Table struct {
	specs []*Spec
	names map[string]*Spec
}

// Load reads the embedded spec files. It returns an error when a file has an unknown field, or
// when two providers have the same name. Both are build errors.
func Load() (*Table, error) { return load(specFiles) }

func load(files fs.FS) (*Table, error) {
	paths, err := fs.Glob(files, "specs/*.json")
	if err != nil {
		return nil, err
	}
	t := &Table{names: make(map[string]*Spec, 2*len(paths))}
	for _, p := range paths {
		raw, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		s, err := parse(raw)
		if err == nil && p != "specs/"+s.ID+".json" {
			err = fmt.Errorf("id %q must match the file name", s.ID)
		}
		if err == nil {
			err = t.add(s)
		}
		if err != nil {
			return nil, fmt.Errorf("provider spec %s: %w", p, err)
		}
	}
	slices.SortFunc(t.specs, func(a, b *Spec) int { return strings.Compare(a.ID, b.ID) })
	return t, nil
}

func (t *Table) add(s *Spec) error {
	for _, name := range append([]string{s.ID}, s.Aliases...) {
		if other, taken := t.names[name]; taken {
			return fmt.Errorf("the name %q is already used by %s", name, other.ID)
		}
		t.names[name] = s
	}
	t.specs = append(t.specs, s)
	return nil
}

// Find returns the provider with an id or alias, for example "groq" or "together".
func (t *Table) Find(name string) (*Spec, bool) {
	s, ok := t.names[name]
	return s, ok
}

// All returns the providers sorted by id. The table owns the slice.
func (t *Table) All() []*Spec { return t.specs }

// Free returns the ids of the providers whose calls cost nothing, sorted: ["milvus", "ollama"].
func (t *Table) Free() (ids []string) {
	for _, s := range t.specs {
		if s.Pricing == pricingFree {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// pricingFree is the Pricing of a provider that runs on the operator's own machines.
const pricingFree = "free"

// PlatformOpenAI is the Platform of OpenAI and of Azure, which serves OpenAI's models.
const PlatformOpenAI = "openai"

func parse(raw []byte) (*Spec, error) {
	s := new(Spec)
	if err := strict(raw, s); err != nil {
		return nil, err
	}
	if s.Pricing != "" && s.Pricing != pricingFree {
		return nil, fmt.Errorf("pricing is %q, but must be free or absent", s.Pricing)
	}
	if s.Platform != "" && s.Platform != PlatformOpenAI {
		return nil, fmt.Errorf("platform is %q; it must be %s or absent", s.Platform, PlatformOpenAI)
	}
	return s, s.compile()
}

// UnmarshalJSON reads a path, with or without a method, or an object.
func (e *Endpoint) UnmarshalJSON(raw []byte) error {
	type plain Endpoint
	if len(raw) == 0 || raw[0] != '"' {
		return strict(raw, (*plain)(e))
	}
	if err := json.Unmarshal(raw, &e.Path); err != nil {
		return err
	}
	if method, path, both := strings.Cut(e.Path, " "); both {
		e.Method, e.Path = method, path
	}
	return nil
}

// strict decodes one JSON value and refuses unknown fields.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("unexpected second JSON value")
	}
	return nil
}

// known returns the endpoint names that a spec file may use.
func known() map[llm.Endpoint]bool {
	names := map[llm.Endpoint]bool{llm.Proxy: true}
	for _, r := range llm.Routes {
		names[r.Endpoint] = true
	}
	return names
}
