package jsonedit

import "strings"

// selection combines the selections of many paths by their steps, so that one pass over a body
// applies them all.
type selection struct {
	terminal bool // a path ends here
	members  map[string]*selection
	elements map[int]*selection // by index, or by every
}

// add adds a path. An invalid path selects nothing.
func (s *selection) add(path string) {
	for path != "" {
		st, rest, ok := cut(path)
		if !ok {
			return
		}
		s, path = s.step(st), next(rest)
	}
	s.terminal = true
}

// step returns the selection after a step, and creates it when it is missing.
func (s *selection) step(st step) *selection {
	if st.index != noIndex {
		return child(&s.elements, st.index)
	}
	return child(&s.members, st.key)
}

func child[K comparable](children *map[K]*selection, key K) *selection {
	if *children == nil {
		*children = make(map[K]*selection)
	}
	s := (*children)[key]
	if s == nil {
		s = new(selection)
		(*children)[key] = s
	}
	return s
}

// dropAll applies a DropAll to the object. Most paths are names, which need no selection.
func (dr *draft) dropAll(paths []string) {
	drop := Edit{op: opDrop}
	var nested selection
	for _, path := range paths {
		if strings.ContainsAny(path, ".[") {
			nested.add(path)
		} else {
			dr.walk(path, &drop)
		}
	}
	for key, s := range nested.members {
		for k := range dr.entries {
			if !dr.is(k, key) {
				continue
			}
			d := remover{led: []*selection{s}}
			if val, changed := d.from(dr.value(k), 0); changed {
				dr.setValue(k, val)
			}
		}
	}
}

// remover removes the selected parts of a value.
type remover struct {
	led []*selection // selections for the current value, after those for its containers
}

// from returns the value for led[first:] without the parts that they select. When they select
// nothing, it returns raw itself and false.
func (d *remover) from(raw []byte, first int) ([]byte, bool) {
	if !container(raw, '{') && !container(raw, '[') {
		return raw, false
	}
	end := len(d.led)
	return rewrite(raw, func(k int, it item) memberEdit {
		d.led = d.led[:end] // removes those of the previous item
		for _, s := range d.led[first:end] {
			if d.extendSelection(s, raw, k, it) {
				return memberEdit{dropped: true}
			}
		}
		if len(d.led) == end {
			return memberEdit{}
		}
		val, changed := d.from(raw[it.val:it.end], end)
		if !changed {
			return memberEdit{}
		}
		return memberEdit{val: val}
	})
}

// extendSelection appends the selections that apply to the member or element k of raw, and
// reports whether it is selected itself.
func (d *remover) extendSelection(s *selection, raw []byte, k int, it item) (selected bool) {
	if raw[0] == '{' {
		return d.lead(s.member(raw, it))
	}
	return d.lead(s.elements[k]) || d.lead(s.elements[every])
}

func (d *remover) lead(s *selection) (selected bool) {
	if s == nil {
		return false
	}
	d.led = append(d.led, s)
	return s.terminal
}

// member returns the selection for a member of raw by its name, or nil.
func (s *selection) member(raw []byte, it item) *selection {
	if !it.escaped {
		return s.members[string(raw[it.key+1:it.keyEnd-1])]
	}
	var buf [64]byte
	return s.members[string(AppendUnquoted(buf[:0], raw[it.key:it.keyEnd]))]
}
