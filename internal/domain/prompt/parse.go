package prompt

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// Parse reads a template: fault.InvalidParameter names the line and what is wrong with
// it. A line on which nothing but a comment or the beginning or end of a section stands
// leaves no empty line; partials keep the line break after them.
func Parse(text string) (*Template, error) {
	if len(text) > MaxTemplateBytes {
		return nil, invalid("the template is longer than %d bytes", MaxTemplateBytes)
	}
	p := parser{src: text}
	nodes, err := p.block("", 0, 0)
	if err != nil {
		return nil, err
	}
	return &Template{nodes, p.partials}, nil
}

func invalid(format string, args ...any) *fault.Error {
	return fault.Newf(fault.InvalidParameter, format, args...)
}

type parser struct {
	src      string
	pos      int // of the next byte to read
	tags     int
	partials []PartialRef
}

// tag is one tag of the text.
type tag struct {
	sigil byte   // '#', '^', '/', '!', '>', '&', '{', '=' or 0 for a variable
	body  string // what stands between, trimmed
	start int    // of its first brace
	lone  bool   // it stands alone on its line
	until int    // after it, and after the rest of its line if it stands alone
}

// block reads up to the end of the section open, or of the text.
func (p *parser) block(open string, from, depth int) ([]node, error) {
	if depth > MaxNesting {
		return nil, p.wrong(from, "sections are nested deeper than %d levels", MaxNesting)
	}
	var nodes []node
	for {
		t, found, err := p.next()
		if err != nil {
			return nil, err
		}
		nodes = p.upTo(t, nodes)
		if !found {
			if open != "" {
				return nil, p.wrong(from, "the section {{#%s}} has no end; add {{/%s}}", open, open)
			}
			return nodes, nil
		}
		switch t.sigil {
		case '!':
		case '/':
			if t.body != open {
				return nil, p.unexpectedEnd(t, open)
			}
			return nodes, nil
		case '#', '^':
			n, err := p.section(t, depth)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		default:
			n, err := p.single(t)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		}
	}
}

// upTo adds the text before a tag and moves past the tag.
func (p *parser) upTo(t tag, nodes []node) []node {
	end := t.start
	if t.lone {
		end = max(p.pos, strings.LastIndexByte(p.src[:t.start], '\n')+1)
	}
	if end > p.pos {
		nodes = append(nodes, node{kind: literal, text: p.src[p.pos:end]})
	}
	p.pos = t.until
	return nodes
}

func (p *parser) unexpectedEnd(t tag, open string) error {
	if open == "" {
		return p.wrong(t.start, "{{/%s}} closes a section that was not opened", clip(t.body))
	}
	return p.wrong(t.start, "the section {{#%s}} is closed by {{/%s}}", open, clip(t.body))
}

func (p *parser) section(t tag, depth int) (node, error) {
	n := node{kind: section}
	if t.sigil == '^' {
		n.kind = inverted
	}
	var err error
	if n.name, err = p.name(t, t.body); err != nil {
		return n, err
	}
	n.inner, err = p.block(t.body, t.start, depth+1)
	return n, err
}

// single makes the node of a tag that needs no end.
func (p *parser) single(t tag) (n node, err error) {
	switch t.sigil {
	case '=':
		return n, p.wrong(t.start, "the delimiters of tags cannot be changed")
	case '>':
		return p.partial(t)
	case '&', '{':
		n = node{kind: variable, plain: true}
	default:
		n = node{kind: variable}
	}
	n.name, err = p.name(t, t.body)
	return n, err
}

func (p *parser) partial(t tag) (n node, err error) {
	if rest, ok := strings.CutPrefix(t.body, ">"); ok {
		n = node{kind: private}
		n.name, err = p.name(t, strings.TrimSpace(rest))
		return n, err
	}
	slug, version, dated := strings.Cut(t.body, "@")
	if _, err := p.name(t, slug); err != nil {
		return n, err
	}
	if len(version) > MaxNameBytes {
		return n, p.wrong(t.start, "the version of a partial is longer than %d bytes", MaxNameBytes)
	}
	if dated && version != Latest && !digits(version) {
		return n, p.wrong(t.start, "{{>%s}} does not name a version; write a number or latest after @", clip(t.body))
	}
	n = node{kind: partial, ref: PartialRef{slug, version}}
	if !slices.Contains(p.partials, n.ref) {
		p.partials = append(p.partials, n.ref)
	}
	return n, nil
}

func (p *parser) name(t tag, s string) (name, error) {
	switch {
	case s == "":
		return name{}, p.wrong(t.start, "a tag does not have a name")
	case len(s) > MaxNameBytes:
		return name{}, p.wrong(t.start, "a name is longer than %d bytes", MaxNameBytes)
	case s == "." || !strings.Contains(s, "."):
		return name{full: s}, nil
	}
	return name{s, strings.Split(s, ".")}, nil
}

// wrong is an error of the template at an offset. Lines are counted for it alone.
func (p *parser) wrong(offset int, format string, args ...any) error {
	return invalid("line %d: %s", strings.Count(p.src[:offset], "\n")+1, fmt.Sprintf(format, args...))
}

// clip shortens what is shown of a name.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
