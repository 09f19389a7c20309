package splice

import (
	"strings"

	"sluice/internal/wire"
)

// FieldEdit is one change of a form. Edits are applied in order.
type FieldEdit struct {
	op     op
	name   string
	values []string
}

// SetField gives the field name these values, one part for each: parts that are there
// keep their head and their place, the others are added at the end or left out.
func SetField(name string, values ...string) FieldEdit { return FieldEdit{opSet, name, values} }

// DefaultField is SetField when there is no part of that name.
func DefaultField(name string, values ...string) FieldEdit {
	return FieldEdit{opDefault, name, values}
}

// DropField leaves out every part of that name, files too.
func DropField(name string) FieldEdit { return FieldEdit{op: opDrop, name: name} }

// slot is a part while the form is being changed.
type slot struct {
	part    *Part // nil of an added one
	name    string
	value   string
	changed bool
	dropped bool
}

// Edit returns the body with the edits in it. Every other byte is the same, and file
// contents are not copied: they go out from the spool, so the payload is valid until
// the spool is closed. A value with a line that begins with the form's own boundary is
// refused with fault.InvalidRequest, for it could pretend to be further parts.
func (f *Form) Edit(edits []FieldEdit) (wire.Payload, error) {
	slots := make([]slot, len(f.Parts), len(f.Parts)+len(edits))
	for k := range f.Parts {
		slots[k] = slot{part: &f.Parts[k], name: f.Parts[k].Name}
	}
	changed := false
	for _, e := range edits {
		if err := f.allows(e); err != nil {
			return wire.Payload{}, err
		}
		var done bool
		slots, done = e.apply(slots)
		changed = changed || done
	}
	if !changed {
		return f.Payload(), nil
	}
	return f.compose(slots), nil
}

// allows refuses values in which a line begins with the boundary, whichever way the line in
// front of it ends: readers differ in what they take for a line break, as content knows.
func (f *Form) allows(e FieldEdit) error {
	for _, v := range e.values {
		if strings.Contains(strings.ReplaceAll("\n"+v, "\r", "\n"), "\n--"+f.boundary) {
			return malformed("a value contains a line that begins with the boundary").WithParam(e.name)
		}
	}
	return nil
}

func (e FieldEdit) apply(slots []slot) ([]slot, bool) {
	changed, used := false, 0
	for k := range slots {
		s := &slots[k]
		switch {
		case s.dropped || s.name != e.name:
		case e.op == opDefault:
			return slots, false
		case used < len(e.values):
			s.value, s.changed, changed = e.values[used], true, true
			used++
		default:
			s.dropped, changed = true, true
		}
	}
	for ; used < len(e.values); used++ {
		slots = append(slots, slot{name: e.name, value: e.values[used], changed: true})
		changed = true
	}
	return slots, changed
}

// compose puts the body together: runs of untouched parts are one piece of the spool.
func (f *Form) compose(slots []slot) wire.Payload {
	c := composer{form: f, out: []wire.Payload{f.spool.Slice(0, f.first)}}
	for k := range slots {
		if !slots[k].dropped {
			c.add(&slots[k])
		}
	}
	c.flush()
	c.text("")
	last := f.last()
	return wire.Join(append(c.out, f.spool.Slice(last, f.spool.Len()-last))...)
}

// last is where the dashes of the last boundary begin.
func (f *Form) last() int64 {
	if n := len(f.Parts); n > 0 {
		return f.Parts[n-1].Off + f.Parts[n-1].Len + 2
	}
	return f.first
}

type composer struct {
	form     *Form
	out      []wire.Payload
	off, end int64 // a run of the spool that is not in out yet
	any      bool
}

func (c *composer) add(s *slot) {
	if s.part == nil {
		c.text("--" + c.form.boundary + "\r\nContent-Disposition: form-data; name=\"" + fieldName(s.name) + "\"\r\n\r\n" + s.value)
		c.any = true
		return
	}
	off, end := s.part.PartOff, s.part.PartOff+s.part.PartLen
	if s.changed {
		end = s.part.Off
	}
	if c.end > c.off && c.end+2 == off {
		c.end = end // goes on where the run ended, line break included
	} else {
		c.text("")
		c.off, c.end = off, end
	}
	c.any = true
	if s.changed {
		c.value(s.value)
	}
}

// text puts bytes of ours behind what is there, after the line break that parts two
// of them.
func (c *composer) text(s string) {
	if c.any {
		s = "\r\n" + s
	}
	c.value(s)
}

func (c *composer) value(s string) {
	c.flush()
	if s != "" {
		c.out = append(c.out, wire.Bytes([]byte(s)))
	}
}

func (c *composer) flush() {
	if c.end > c.off {
		c.out = append(c.out, c.form.spool.Slice(c.off, c.end-c.off))
	}
	c.off, c.end = 0, 0
}

// fieldName is a name as browsers put it into a header line.
func fieldName(name string) string {
	return strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}
