package prompt

import "sluice/internal/kernel/fault"

// The stored kinds of partials and their versions.
const (
	PartialKind        = "prompt_partial"
	PartialVersionKind = "prompt_partial_version"
)

// Partial is the stored body of a partial: a text that templates include by its slug.
// Source: contract/content-and-observability.md 1.6.
type Partial struct {
	Name         string `json:"name"`
	CollectionID string `json:"collection_id"`
	VersionHistory
	Uses []Use `json:"uses,omitempty"` // partials that versions name
	// Draft is the version that a change writes beside the partial; not stored here.
	Draft *PartialVersion `json:"-"`
}

// Validate checks the body: fault.InvalidParameter.
func (p *Partial) Validate() error { return checkName(p.Name) }

// PartialsInUse are the partials that the published or the newest version names.
func (p *Partial) PartialsInUse() []string {
	return p.inUse(p.Uses, func(int) bool { return false })
}

// PartialVersion is one numbered text of a partial. It never changes.
type PartialVersion struct {
	PartialID   string   `json:"partial_id"`
	Number      int      `json:"number"` // from 1
	String      string   `json:"string"`
	Description string   `json:"version_description,omitempty"`
	Partials    []string `json:"partials,omitempty"` // ids of the saved partials that it names
}

// Compile reads the text: fault.InvalidParameter, At "string", when it cannot be used.
func (v *PartialVersion) Compile() (*Template, error) {
	t, err := Parse(v.String)
	if err != nil {
		return nil, fault.From(err).WithParam("string")
	}
	return t, nil
}
