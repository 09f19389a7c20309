package splice

import "strings"

// selection is what many paths select, put together by their steps: so a body is gone
// through once for all of them.
type selection struct {
	terminal bool // a path ends here
	members  map[string]*selection
	elements map[int]*selection // by index; also every
}

// add puts a path in. What is no path leads nowhere.
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

// step is the selection behind a step; it is made if there is none.
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

// dropAll does a DropAll in the object. Most paths are names, which need no selection.
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

// remover leaves out what is selected below a value.
type remover struct {
	led []*selection // to the value at hand, behind those to what it lies in
}

// from returns a value, to which led[first:] lead, without what they select in it; itself,
// and false, where that is nothing.
func (d *remover) from(raw []byte, first int) ([]byte, bool) {
	if !container(raw, '{') && !container(raw, '[') {
		return raw, false
	}
	end := len(d.led)
	return rewrite(raw, func(k int, it item) memberEdit {
		d.led = d.led[:end] // without those to the one before
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

// extendSelection adds what leads from a selection to the member or element k of raw, and reports
// whether that is selected itself.
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

// member is the selection behind the name of a member of raw, nil for none.
func (s *selection) member(raw []byte, it item) *selection {
	if !it.escaped {
		return s.members[string(raw[it.key+1:it.keyEnd-1])]
	}
	var buf [64]byte
	return s.members[string(AppendUnquoted(buf[:0], raw[it.key:it.keyEnd]))]
}
