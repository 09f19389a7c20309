package jsonedit

// Below the top level nothing is indexed. The number of members and elements is not limited
// there, and the index of a list of digits would be fifty times as large as the list. A
// container is therefore read from front to back, twice where the last of its duplicates
// matters.

// memberEdit is the change of a member or element. A nil name or value is unchanged.
type memberEdit struct {
	name, val []byte
	dropped   bool
}

// rewrite returns the container raw after applying change to its members or elements, counted
// from 0. raw must be valid JSON without surrounding white space. Without a change, rewrite
// returns raw itself and false.
func rewrite(raw []byte, change func(k int, it item) memberEdit) ([]byte, bool) {
	c := rewriter{src: raw}
	first, prev, retained := -1, 0, false // start of the first, end of the previous one, whether one remains
	eachItem(raw, func(k int, it item) {
		p := change(k, it)
		if k == 0 {
			first = it.key
		}
		switch {
		case !p.dropped:
			if !retained && k > 0 {
				c.replace(first, it.key, nil) // all members before it are removed
			}
			retained = true
			c.member(it, p)
		case retained:
			c.replace(prev, it.end, nil) // with the comma before it
		}
		prev = it.end
	})
	if !retained && first >= 0 {
		c.replace(first, prev, nil)
	}
	return c.text()
}

// eachItem iterates over the members or elements of a valid container.
func eachItem(raw []byte, do func(k int, it item)) {
	s, closing := scanner{b: raw}, raw[0]+2
	i := s.space(1)
	for k := 0; s.byteAt(i) != closing; k++ {
		it, end := s.item(i, 1, closing == '}')
		if end < 0 {
			return // the value of an edit is not JSON, or nested too deeply
		}
		do(k, it)
		if i = s.space(end); s.byteAt(i) == ',' {
			i = s.space(i + 1)
		}
	}
}

// rewriter copies a text from front to back and replaces parts of it. It allocates the copy at
// the first replacement.
type rewriter struct {
	src, out []byte
	done     int // number of bytes of the text already in the copy
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

// lastNamed returns the index and position of the last member with that name in the object raw,
// or -1 without one.
func lastNamed(raw []byte, key string) (last int, pos item) {
	last = -1
	eachItem(raw, func(k int, it item) {
		if it.named(raw, key) {
			last, pos = k, it
		}
	})
	return last, pos
}

// applyToValue is walk for any value. A value that is not the container named in the path
// selects nothing.
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

// renameIn is draft.rename for the object raw.
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

// setIn returns the object old with raw at path. A value that is not an object counts as an
// empty one. made is nil and ok false for a path that does not consist of members.
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

// added returns the object old with a further member, after its last one or after its opening
// bracket.
func added(old []byte, key string, raw []byte) []byte {
	pos, comma := 1, ""
	eachItem(old, func(_ int, it item) { pos, comma = it.end, "," })
	c := rewriter{src: old}
	c.replace(pos, pos, append(append(AppendQuoted([]byte(comma), key), ':'), raw...))
	made, _ := c.text()
	return made
}
