package provider

import (
	"fmt"
	"net/url"
	"strings"
)

// part is one element of a template: text, or a placeholder such as {model},
// {azure_foundry_url|origin}, {id|slashes} or {model|segment}.
type part struct {
	text    string
	name    string // of the placeholder; empty for text
	origin  bool   // only scheme and host of a URL
	slashes bool   // of {id}: escaped slashes become slashes
	segment bool   // of {model}: slashes are escaped, and existing escapes are not escaped again
}

// template is text with placeholders, parsed once by Load.
type template []part

// parseTemplate parses s. The filters are origin, slashes and segment.
func parseTemplate(s string) (template, error) {
	var t template
	for s != "" {
		before, rest, found := strings.Cut(s, "{")
		if before != "" {
			t = append(t, part{text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		name, filter, _ := strings.Cut(name, "|")
		p := part{name: name, origin: filter == "origin", slashes: filter == "slashes" && name == argID, segment: filter == "segment" && name == argModel}
		if !closed || name == "" || filter != "" && !p.origin && !p.slashes && !p.segment {
			return nil, fmt.Errorf("template %q is malformed", s)
		}
		t = append(t, p)
		s = after
	}
	return t, nil
}

// static returns the text of a template without placeholders.
func (t template) static() (string, bool) {
	switch {
	case len(t) == 0:
		return "", true
	case len(t) == 1 && t[0].name == "":
		return t[0].text, true
	}
	return "", false
}

// raw inserts the values unchanged. ok is false when a value is empty.
func (t template) raw(value func(string) string) (out string, ok bool) {
	if s, static := t.static(); static {
		return s, true
	}
	var b strings.Builder
	b.Grow(96)
	for _, p := range t {
		v := p.text
		if p.name != "" {
			if v = value(p.name); v == "" {
				return "", false
			}
			if p.origin {
				v = origin(v)
			}
		}
		b.WriteString(v)
	}
	return b.String(), true
}

// origin cuts a URL after its host.
func origin(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return u[:len(u)-len(rest)+i]
	}
	return u
}

// path inserts the values escaped for a path: {id} and {rest} unchanged (both were already
// checked), {model} with its slashes, and all others as one segment.
func (t template) path(value func(string) string) (out, missing string) {
	if s, static := t.static(); static {
		return s, ""
	}
	var b strings.Builder
	b.Grow(96)
	for _, p := range t {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		v := value(p.name)
		if v == "" && p.name != argRest {
			return "", p.name
		}
		switch p.name {
		case argID, argRest:
			if p.slashes {
				v = slashed.Replace(v)
			}
			b.WriteString(v)
		case argModel:
			if !p.segment {
				escape(&b, v, "/@")
				continue
			}
			if plain, err := url.PathUnescape(v); err == nil {
				v = plain
			}
			escape(&b, v, "")
		default:
			escape(&b, v, "")
		}
	}
	return b.String(), ""
}

// slashed unescapes slashes.
var slashed = strings.NewReplacer("%2F", "/", "%2f", "/")

// query adds name=value to a raw query unless the name is present or the value is empty.
func (t template) query(to, name string, value func(string) string) string {
	if hasParam(to, name) {
		return to
	}
	v, ok := t.raw(value)
	if !ok {
		return to
	}
	if to != "" {
		to += "&"
	}
	return to + name + "=" + url.QueryEscape(v)
}

// Placeholders that are not credential fields.
const (
	argModel      = "model"
	argID         = "id"
	argRest       = "rest"
	argUser       = "user"
	argDeployment = "deployment"
)
