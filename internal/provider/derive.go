package provider

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// Derived is a placeholder whose value is made of a credential field: of a member of
// the JSON object in it, or of another word for its value. What neither gives is Else.
// A member must be one segment of a path, and fields in Else have strict classes. In a
// host no member may stand, and no field without a class for hosts.
type Derived struct {
	From   string            `json:"from"`   // "vertex_region"
	Member string            `json:"member"` // "project_id"; empty: From is no object
	Values map[string]string `json:"words"`  // "global": "aiplatform.googleapis.com"
	Else   string            `json:"else"`   // "{vertex_region}-aiplatform.googleapis.com"

	rest template
}

// compileDerived checks the derived placeholders. They come before the addresses, which
// may use them.
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

// host reports whether the values may stand in a host.
func (d *Derived) host(s *Spec) bool {
	for _, p := range d.rest {
		if p.name != "" && !s.classOf(p.name).host() {
			return false
		}
	}
	return d.Member == ""
}

// derived works the value of a derived placeholder out; "" when there is none.
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

// missingDerived names the field that a derived placeholder lacks.
func (q *query) missingDerived(d *Derived) error {
	for _, p := range d.rest {
		if p.name != "" && q.value(p.name) == "" {
			return q.missing(p.name)
		}
	}
	return q.missing(d.From)
}
