package prompt

// Template is a parsed text, for example "Hello {{name}}". Nothing in it changes:
// it may be rendered any number of times, by several goroutines at once.
type Template struct {
	nodes    []node
	partials []PartialRef
}

// PartialRef names a saved partial as a tag does: {{>tone}} or {{>tone@5}}.
type PartialRef struct {
	Name    string // slug or id
	Version string // "5", "latest", or "" for the published one
}

// String is the reference as it stands in the tag: "tone@5".
func (r PartialRef) String() string {
	if r.Version == "" {
		return r.Name
	}
	return r.Name + "@" + r.Version
}

// Partials lists the saved partials that the template names, each once, in the order
// of their first use. Those of its partials are not among them.
func (t *Template) Partials() []PartialRef { return t.partials }

// kind is what a node does.
type kind uint8

const (
	literal kind = iota
	variable
	section
	inverted
	partial
	private
)

// node is a literal or a tag.
type node struct {
	kind  kind
	text  string // of a literal
	name  name
	plain bool // {{{x}}} and {{&x}}: inserted as it is, in raw templates too
	ref   PartialRef
	inner []node // of a section
}

// name is what a tag looks up.
type name struct {
	full  string   // "customer.city", or "." for the current element
	parts []string // "customer", "city"; nil without dots
}
