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
		elem := f.schema(listOf.FindStringSubmatch(s)[1])
		if w := without.FindStringSubmatch(s); w != nil && elem != nil {
			elem.fields = slices.DeleteFunc(elem.fields, func(x field) bool { return x.name == w[1] })
		}
		return &shape{[]field{{name: "object"}, {name: "total", types: []string{"integer"}}, {name: "data", types: []string{"array"}, elem: elem}}}
	case picked.MatchString(s):
		return f.picked(picked.FindStringSubmatch(s))
	case strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "{}"), strings.HasPrefix(s, "["):
		p := &prose{f: f, tokens: tokens.FindAllString(strings.ReplaceAll(s, "(our choice)", ""), -1)}
		_, elem := p.value()
		return elem
	}
	name, _, _ := strings.Cut(s, " ")
	elem := f.schema(strings.TrimRight(name, ",;"))
	if _, more, ok := strings.Cut(s, " + "); ok && elem != nil {
		p := &prose{f: f, tokens: tokens.FindAllString(more, -1)}
		p.fields(elem)
	}
	return elem
}

// picked is some fields of a schema: those that are named, or all that may be written.
func (f *file) picked(m []string) *shape {
	elem := f.schema(m[1])
	if elem == nil {
		return nil
	}
	out := &shape{}
	for _, x := range elem.fields {
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
func (p *prose) value() (typeName string, elem *shape) {
	switch {
	case p.take("{"):
		elem = &shape{}
		p.fields(elem)
		p.take("}")
		return "object", elem
	case p.take("["):
		if len(p.tokens) > 0 && p.tokens[0] != "{" {
			elem = p.f.schema(p.tokens[0])
			p.tokens = p.tokens[1:]
			if p.take("+") && elem != nil {
				p.fields(elem)
			}
		} else {
			_, elem = p.value()
		}
		for len(p.tokens) > 0 && !p.take("]") {
			p.tokens = p.tokens[1:]
		}
		return "array", elem
	case len(p.tokens) > 0:
		elem = p.f.schema(p.tokens[0])
		p.tokens = p.tokens[1:]
	}
	return "", elem
}

func (p *prose) fields(elem *shape) {
	for len(p.tokens) > 0 && !slices.Contains([]string{"}", "]"}, p.tokens[0]) {
		x := field{name: p.tokens[0]}
		p.tokens = p.tokens[1:]
		if p.take(":") {
			var name string
			if name, x.elem = p.value(); name != "" {
				x.types = []string{name}
			}
		}
		if !strings.HasPrefix(x.name, "<") { // which stands for names that differ
			elem.add(x)
		}
		for len(p.tokens) > 0 && !p.take(",") && !slices.Contains([]string{"}", "]"}, p.tokens[0]) {
			p.tokens = p.tokens[1:] // words about a value
		}
	}
}
