package splice

// walk does a drop, rename or replace on what path selects in the object.
func (dr *draft) walk(path string, e *Edit) {
	st, rest, ok := cut(path)
	if !ok || st.index != noIndex {
		return
	}
	if rest == "" && e.op == opRename {
		dr.rename(st.key, e.to)
		return
	}
	for k := range dr.entries {
		if !dr.is(k, st.key) {
			continue
		}
		switch raw, changed := e.change(dr.value(k), rest); {
		case !changed:
		case raw == nil:
			dr.drop(k)
		default:
			dr.setValue(k, raw)
		}
	}
}

// rename gives the last member of that name another one and drops its twins: the last is
// the one that find and most readers take. Where the name is taken all are dropped.
func (dr *draft) rename(key, to string) {
	if key == to {
		return
	}
	taken := dr.find(to) >= 0 // asked once: each time it looks at every member
	for k := len(dr.entries) - 1; k >= 0; k-- {
		switch {
		case !dr.is(k, key):
		case taken:
			dr.drop(k)
		default:
			dr.entries[k].name, dr.dirty, taken = Quote(to), true, true
		}
	}
}

// setPath does a SetPath in the object.
func (dr *draft) setPath(path string, raw []byte) {
	st, rest, ok := cut(path)
	if !ok || st.index != noIndex {
		return
	}
	if rest == "" {
		dr.set(st.key, raw)
		return
	}
	var old []byte
	if k := dr.find(st.key); k >= 0 {
		old = dr.value(k)
	}
	if made, ok := setIn(old, next(rest), raw); ok {
		dr.set(st.key, made)
	}
}

// change is what a drop, replace or rename makes of a value that its path leads to, or
// through when there is a rest of it: nil when the value goes.
func (e *Edit) change(val []byte, rest string) (to []byte, changed bool) {
	if rest != "" {
		return applyToValue(val, next(rest), e)
	}
	switch e.op {
	case opDrop:
		return nil, true
	case opReplace:
		if to, ok := e.swap[string(val)]; ok && to != string(val) {
			return []byte(to), true
		}
	case opRename: // is about names
	case opSet, opDefault, opSetPath, opDropAll: // are not walked for
	}
	return val, false
}
