package jsonedit

// walk applies a drop, rename or replace to the parts that path selects in the object.
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

// rename renames the last member with that name and drops its duplicates. find and most readers
// use the last one. When the new name exists, all are dropped.
func (dr *draft) rename(key, to string) {
	if key == to {
		return
	}
	taken := dr.find(to) >= 0 // computed once: each call checks every member
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

// setPath applies a SetPath to the object.
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

// change applies a drop, replace or rename to a value at the end of its path, or to its content
// when rest is not empty. to is nil when the value is removed.
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
	case opRename: // applies to names only
	case opSet, opDefault, opSetPath, opDropAll: // not applied by walk
	}
	return val, false
}
