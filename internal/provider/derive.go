package provider

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// Derived is a placeholder computed from a credential field: from a member of its JSON object,
// or from a replacement for its value. Else applies when neither gives a value. A member must
// be one path segment, and fields in Else must have strict classes. A host may not contain a
// member, or a field without a host class.
type Derived struct {
	From   string            `json:"from"`   // "vertex_region"
	Member string            `json:"member"` // "project_id"; empty: From is not an object
	Values map[string]string `json:"words"`  // "global": "aiplatform.googleapis.com"
	Else   string            `json:"else"`   // "{vertex_region}-aiplatform.googleapis.com"

	rest template
}

// compileDerived checks the derived placeholders. It runs before the addresses are compiled,
// because these may use them.
func (s *Spec) compileDerived() error {
	for name, d := range s.Derived {
		_, taken := s.fields[name]
		switch _, known := s.fields[d.From]; {
		case taken || reserved(name):
			return fmt.Errorf("derived %q: the name is already used", name)
		case !known:
			return fmt.Errorf("derived %q: field %q is not declared", name, d.From)
		case (d.Member == "") == (len(d.Values) == 0):
			return fmt.Errorf("derived %q: set either member or words", name)
		}
		t, err := s.template(d.Else)
		if err != nil {
			return err
		}
		for _, p := range t {
			if p.name != "" && !s.classOf(p.name).host() && s.classOf(p.name) != classSegment {
				return fmt.Errorf("derived %q: field %s has no strict class", name, p.name)
			}
		}
		if len(t) == 0 {
			return errors.New("derived placeholders require an else")
		}
		d.rest = t
	}
	return nil
}

// host reports whether the values may be part of a host.
func (d *Derived) host(s *Spec) bool {
	for _, p := range d.rest {
		if p.name != "" && !s.classOf(p.name).host() {
			return false
		}
	}
	return d.Member == ""
}

// derived returns the value of a derived placeholder, or "" without one.
func (q *query) derived(d *Derived) string {
	v := q.value(d.From)
	if d.Member != "" {
		if m := gjson.Get(v, d.Member).Str; classSegment.ok(m) {
			return m
		}
	} else if w, ok := d.Values[v]; ok {
		return w
	}
	out, _ := d.rest.raw(q.value)
	return out
}

// missingDerived returns an error that names the field missing for a derived placeholder.
func (q *query) missingDerived(d *Derived) error {
	for _, p := range d.rest {
		if p.name != "" && q.value(p.name) == "" {
			return q.missing(p.name)
		}
	}
	return q.missing(d.From)
}
