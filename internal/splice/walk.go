package splice

// walk does a drop, rename or replace on what path selects below the container.
func (dr *draft) walk(path string, e *Edit) {
	st, rest, ok := cut(path)
	if !ok {
		return
	}
	for k := range dr.entries {
		if !dr.selects(k, st) {
			continue
		}
		if rest == "" {
			dr.leaf(k, e)
		} else if raw, changed := walkIn(dr.value(k), next(rest), e); changed {
			dr.setValue(k, raw)
		}
	}
}

func (dr *draft) selects(k int, st step) bool {
	if dr.entries[k].dropped {
		return false
	}
	if st.index == noIndex {
		return dr.isObject() && dr.is(k, st.key)
	}
	return !dr.isObject() && (st.index == every || st.index == dr.entries[k].orig)
}

// isObject reports whether the members have names.
func (dr *draft) isObject() bool {
	if len(dr.items) > 0 {
		return dr.items[0].keyEnd > dr.items[0].key
	}
	return true // only objects are added to
}

func (dr *draft) leaf(k int, e *Edit) {
	switch e.op {
	case opDrop:
		dr.drop(k)
	case opReplace:
		if to, ok := e.swap[string(dr.value(k))]; ok {
			dr.setValue(k, []byte(to))
		}
	case opRename:
		switch {
		case !dr.isObject() || dr.is(k, e.to):
		case dr.find(e.to) >= 0:
			dr.drop(k)
		default:
			dr.entries[k].name = Quote(e.to)
			dr.dirty = true
		}
	case opSet, opDefault, opSetPath: // name one place, so that nothing is walked for them
	}
}

// walkIn is walk on a value that is a container; anything else has nothing to select.
func walkIn(raw []byte, path string, e *Edit) ([]byte, bool) {
	if !container(raw, '{') && !container(raw, '[') {
		return raw, false
	}
	dr := newDraft(raw, reindex(raw, nil), nil)
	if dr.walk(path, e); !dr.dirty {
		return raw, false
	}
	return dr.append(make([]byte, 0, len(raw)+len(e.to)+8)), true
}

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
	if made := setIn(old, next(rest), raw); made != nil {
		dr.set(st.key, made)
	}
}

// setIn returns the object old with raw at path; nil when that changes nothing.
func setIn(old []byte, path string, raw []byte) []byte {
	if !container(old, '{') {
		old = []byte("{}")
	}
	dr := newDraft(old, reindex(old, nil), nil)
	if dr.setPath(path, raw); !dr.dirty {
		return nil
	}
	return dr.append(nil)
}
