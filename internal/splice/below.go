package splice

// Below the top level nothing is indexed: how many members and elements there are is not
// bounded there, and the index of a list of digits would be fifty times the list. A
// container is read from front to back instead, twice where it matters which of its twins
// is the last.

// memberEdit is what becomes of a member or element: a nil name or value stays as it is.
type memberEdit struct {
	name, val []byte
	dropped   bool
}

// rewrite returns the container raw, which is known to be valid JSON without white space
// around it, with what change makes of its members or elements, counted from 0. It is raw
// itself, and false, where nothing changes.
func rewrite(raw []byte, change func(k int, it item) memberEdit) ([]byte, bool) {
	c := rewriter{src: raw}
	first, prev, retained := -1, 0, false // where the first begins, where the last ended, whether one stays
	eachItem(raw, func(k int, it item) {
		p := change(k, it)
		if k == 0 {
			first = it.key
		}
		switch {
		case !p.dropped:
			if !retained && k > 0 {
				c.replace(first, it.key, nil) // all in front of it go
			}
			retained = true
			c.member(it, p)
		case retained:
			c.replace(prev, it.end, nil) // with the comma in front of it
		}
		prev = it.end
	})
	if !retained && first >= 0 {
		c.replace(first, prev, nil)
	}
	return c.text()
}

// eachItem goes through the members or elements of a container that is valid.
func eachItem(raw []byte, do func(k int, it item)) {
	s, closing := scanner{b: raw}, raw[0]+2
	i := s.space(1)
	for k := 0; s.byteAt(i) != closing; k++ {
		it, end := s.item(i, 1, closing == '}')
		if end < 0 {
			return // a value of an edit that is no JSON, or nested too deep
		}
		do(k, it)
		if i = s.space(end); s.byteAt(i) == ',' {
			i = s.space(i + 1)
		}
	}
}

// rewriter copies a text with pieces of it replaced, from front to back. It has no copy
// until the first of them.
type rewriter struct {
	src, out []byte
	done     int // how much of the text is in the copy
}

func (c *rewriter) replace(from, to int, with []byte) {
	if c.out == nil {
		c.out = make([]byte, 0, len(c.src)+len(with))
	}
	c.out = append(append(c.out, c.src[c.done:from]...), with...)
	c.done = to
}

func (c *rewriter) member(it item, p memberEdit) {
	if p.name != nil {
		c.replace(it.key, it.keyEnd, p.name)
	}
	if p.val != nil {
		c.replace(it.val, it.end, p.val)
	}
}

func (c *rewriter) text() ([]byte, bool) {
	if c.out == nil {
		return c.src, false
	}
	return append(c.out, c.src[c.done:]...), true
}

// lastNamed returns which member of the object raw is the last of that name, and where it
// lies; -1 when there is none.
func lastNamed(raw []byte, key string) (last int, pos item) {
	last = -1
	eachItem(raw, func(k int, it item) {
		if it.named(raw, key) {
			last, pos = k, it
		}
	})
	return last, pos
}

// applyToValue is walk on any value; one that is not the container which the path is about has
// nothing to select.
func applyToValue(raw []byte, path string, e *Edit) ([]byte, bool) {
	st, rest, ok := cut(path)
	switch {
	case !ok:
		return raw, false
	case st.index != noIndex && container(raw, '['):
		return rewrite(raw, func(k int, it item) memberEdit {
			if st.index != every && st.index != k {
				return memberEdit{}
			}
			return e.editMember(raw[it.val:it.end], rest)
		})
	case st.index != noIndex || !container(raw, '{'):
		return raw, false
	case rest == "" && e.op == opRename:
		return renameIn(raw, st.key, e.to)
	}
	return rewrite(raw, func(_ int, it item) memberEdit {
		if !it.named(raw, st.key) {
			return memberEdit{}
		}
		return e.editMember(raw[it.val:it.end], rest)
	})
}

func (e *Edit) editMember(val []byte, rest string) memberEdit {
	to, changed := e.change(val, rest)
	if !changed {
		return memberEdit{}
	}
	return memberEdit{val: to, dropped: to == nil}
}

// renameIn is the rename of a draft, in the object raw.
func renameIn(raw []byte, key, to string) ([]byte, bool) {
	if key == to {
		return raw, false
	}
	last, _ := lastNamed(raw, key)
	if taken, _ := lastNamed(raw, to); taken >= 0 {
		last = -1
	}
	return rewrite(raw, func(k int, it item) memberEdit {
		switch {
		case !it.named(raw, key):
			return memberEdit{}
		case k == last:
			return memberEdit{name: Quote(to)}
		}
		return memberEdit{dropped: true}
	})
}

// setIn returns the object old with raw at path; what is no object is taken for an empty
// one. It reports false for what is no path through members.
func setIn(old []byte, path string, raw []byte) (made []byte, ok bool) {
	st, rest, ok := cut(path)
	if !ok || st.index != noIndex {
		return nil, false
	}
	if !container(old, '{') {
		old = []byte("{}")
	}
	last, pos := lastNamed(old, st.key)
	if rest != "" {
		if raw, ok = setIn(old[pos.val:pos.end], next(rest), raw); !ok {
			return nil, false
		}
	}
	if last < 0 {
		return added(old, st.key, raw), true
	}
	made, _ = rewrite(old, func(k int, it item) memberEdit {
		switch {
		case !it.named(old, st.key):
			return memberEdit{}
		case k == last && string(old[it.val:it.end]) == string(raw):
			return memberEdit{}
		case k == last:
			return memberEdit{val: raw}
		}
		return memberEdit{dropped: true}
	})
	return made, true
}

// added returns the object old with a further member, behind its last one or else its
// opening bracket.
func added(old []byte, key string, raw []byte) []byte {
	pos, comma := 1, ""
	eachItem(old, func(_ int, it item) { pos, comma = it.end, "," })
	c := rewriter{src: old}
	c.replace(pos, pos, append(append(AppendQuoted([]byte(comma), key), ':'), raw...))
	made, _ := c.text()
	return made
}
