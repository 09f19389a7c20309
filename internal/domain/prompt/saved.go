package prompt

import "sync"

// Saved is a prompt with its versions, as requests find it. Nothing in it changes; it
// is safe for concurrent use.
type Saved struct {
	ID, Slug string
	Prompt   *Prompt
	Versions map[int]*Entry    // by number
	Labels   map[string]string // ids of the workspace's labels, by name
	OrgID    string
}

// Entry is one version, compiled when it is first run: most old ones never are.
type Entry struct {
	ID       string
	Number   int
	compiled func() (*Compiled, error)
}

// NewEntry makes an entry of a stored version.
func NewEntry(id string, v *Version) *Entry {
	return &Entry{id, v.Number, sync.OnceValues(v.Compile)}
}

// Compiled is the version ready to run. Its template was checked when it was saved.
func (e *Entry) Compiled() (*Compiled, error) { return e.compiled() }

// Find returns the version that a suffix means, nil when there is none: "", "latest",
// "12" or a label. Source: contract/content-and-observability.md 1.4.
func (s *Saved) Find(suffix string) *Entry {
	return s.Versions[s.Prompt.Pick(suffix, func(name string) string {
		if id := UniversalID(s.OrgID, name); id != "" {
			return id
		}
		return s.Labels[name]
	})]
}

// PartialSet is the partials of a workspace, by slug and by id. It is a Source.
type PartialSet map[string]*SavedPartial

// SavedPartial is a partial with its versions, as requests find it.
type SavedPartial struct {
	Partial  *Partial
	Versions map[int]*PartialEntry
}

// PartialEntry is one version of a partial, parsed when it is first used.
type PartialEntry struct {
	Number int
	parsed func() (*Template, error)
}

// NewPartialEntry makes an entry of a stored version.
func NewPartialEntry(v *PartialVersion) *PartialEntry {
	return &PartialEntry{v.Number, sync.OnceValues(v.Compile)}
}

// Partial implements Source.
func (s PartialSet) Partial(ref PartialRef) (*Template, error) {
	if p := s[ref.Name]; p != nil {
		if e := p.Versions[p.Partial.Pick(ref.Version)]; e != nil {
			return e.parsed()
		}
	}
	return nil, UnknownPartial(ref)
}
