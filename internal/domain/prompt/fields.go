package prompt

import (
	"slices"

	"sluice/internal/kernel/jsonedit"
)

// field is a member of a JSON object.
type field struct {
	name string
	raw  []byte
}

// fields are the members of an object in their order, each name once.
type fields []field

func (f fields) find(name string) int {
	return slices.IndexFunc(f, func(o field) bool { return o.name == name })
}

func (f fields) has(name string) bool { return f.find(name) >= 0 }

func (f fields) holds(name, raw string) bool {
	i := f.find(name)
	return i >= 0 && string(f[i].raw) == raw
}

func (f *fields) set(name string, raw []byte) {
	if i := f.find(name); i >= 0 {
		(*f)[i].raw = raw
		return
	}
	*f = append(*f, field{name, raw})
}

// add is set for what comes from outside: fault.InvalidParameter, At the object, when
// there are too many.
func (f *fields) add(name string, raw []byte, object string) error {
	if f.set(name, raw); len(*f) > MaxFields {
		return invalid("must not have more than %d fields", MaxFields).WithParam(object)
	}
	return nil
}

func (f *fields) drop(name string) {
	if i := f.find(name); i >= 0 {
		*f = slices.Delete(*f, i, i+1)
	}
}

// json writes the object, without what is null.
func (f fields) json() []byte {
	out := []byte{'{'}
	for _, m := range f {
		if string(m.raw) == "null" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = jsonedit.AppendQuoted(out, m.name)
		out = append(append(out, ':'), m.raw...)
	}
	return append(out, '}')
}
