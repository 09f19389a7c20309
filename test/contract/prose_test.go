package contract

import (
	"regexp"
	"slices"
	"strings"
)

var (
	listOf  = regexp.MustCompile(`^list of (\w+)`)
	picked  = regexp.MustCompile(`^(\w+) (?:writable )?fields(?:: | )?([a-z][a-z_0-9, ]*$)?`)
	without = regexp.MustCompile(` without (\w+)`)
	tokens  = regexp.MustCompile(`<[^>]*>|[\w.-]+|[{}\[\]:,+]`)
)

// prose reads a shape out of a short text: "list of Invite", "Workspace detail",
// "{success: true, data: {auth_settings: AuthSettings, domains: [AllowedDomain]}}",
// "[Collection + collection_details: CollectionDetails]". A text that is none is nil.
func (f *file) prose(s string) *shape {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil
	case listOf.MatchString(s):
		of := f.schema(listOf.FindStringSubmatch(s)[1])
		if w := without.FindStringSubmatch(s); w != nil && of != nil {
			of.fields = slices.DeleteFunc(of.fields, func(x field) bool { return x.name == w[1] })
		}
		return &shape{[]field{{name: "object"}, {name: "total", types: []string{"integer"}}, {name: "data", types: []string{"array"}, of: of}}}
	case picked.MatchString(s):
		return f.picked(picked.FindStringSubmatch(s))
	case strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "{}"), strings.HasPrefix(s, "["):
		p := &prose{f: f, tokens: tokens.FindAllString(strings.ReplaceAll(s, "(our choice)", ""), -1)}
		_, of := p.value()
		return of
	}
	name, _, _ := strings.Cut(s, " ")
	of := f.schema(strings.TrimRight(name, ",;"))
	if _, more, ok := strings.Cut(s, " + "); ok && of != nil {
		p := &prose{f: f, tokens: tokens.FindAllString(more, -1)}
		p.fields(of)
	}
	return of
}

// picked is some fields of a schema: those that are named, or all that may be written.
func (f *file) picked(m []string) *shape {
	of := f.schema(m[1])
	if of == nil {
		return nil
	}
	out := &shape{}
	for _, x := range of.fields {
		named := slices.Contains(strings.Split(m[2], ", "), x.name)
		if named || m[2] == "" && !x.readOnly && !slices.Contains([]string{"id", "object", "created_at", "last_updated_at"}, x.name) {
			out.add(x)
		}
	}
	return out
}

// prose is a text on its way to a shape.
type prose struct {
	f      *file
	tokens []string
}

func (p *prose) take(want string) bool {
	if len(p.tokens) == 0 || p.tokens[0] != want {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// value is an object, an array of one, or a name.
func (p *prose) value() (typeName string, of *shape) {
	switch {
	case p.take("{"):
		of = &shape{}
		p.fields(of)
		p.take("}")
		return "object", of
	case p.take("["):
		if len(p.tokens) > 0 && p.tokens[0] != "{" {
			of = p.f.schema(p.tokens[0])
			p.tokens = p.tokens[1:]
			if p.take("+") && of != nil {
				p.fields(of)
			}
		} else {
			_, of = p.value()
		}
		for len(p.tokens) > 0 && !p.take("]") {
			p.tokens = p.tokens[1:]
		}
		return "array", of
	case len(p.tokens) > 0:
		of = p.f.schema(p.tokens[0])
		p.tokens = p.tokens[1:]
	}
	return "", of
}

func (p *prose) fields(of *shape) {
	for len(p.tokens) > 0 && !slices.Contains([]string{"}", "]"}, p.tokens[0]) {
		x := field{name: p.tokens[0]}
		p.tokens = p.tokens[1:]
		if p.take(":") {
			var name string
			if name, x.of = p.value(); name != "" {
				x.types = []string{name}
			}
		}
		if !strings.HasPrefix(x.name, "<") { // which stands for names that differ
			of.add(x)
		}
		for len(p.tokens) > 0 && !p.take(",") && !slices.Contains([]string{"}", "]"}, p.tokens[0]) {
			p.tokens = p.tokens[1:] // words about a value
		}
	}
}
