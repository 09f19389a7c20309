package jsonedit

import "slices"

// entry is a member of an object during a change. An entry from the text refers to its item.
// name and val are set where they differ from it.
type entry struct {
	orig    int    // index of the item, -1 for an added one
	name    []byte // including the quotes
	val     []byte
	dropped bool
}

// draft is the object of a Doc with its changes: the members in order, and whether anything
// differs from the text.
type draft struct {
	src     []byte
	items   []item
	entries []entry
	dirty   bool
}

func newDraft(src []byte, items []item, scratch []entry) draft {
	scratch = slices.Grow(scratch, len(items))
	for k := range items {
		scratch = append(scratch, entry{orig: k})
	}
	return draft{src: src, items: items, entries: scratch}
}

// value returns the current raw value of entry k.
func (dr *draft) value(k int) []byte {
	e := &dr.entries[k]
	if e.val != nil || e.orig < 0 {
		return e.val
	}
	return dr.src[dr.items[e.orig].val:dr.items[e.orig].end]
}

func (dr *draft) is(k int, key string) bool {
	e := &dr.entries[k]
	if e.dropped {
		return false
	}
	if e.name != nil {
		name, _ := Unquote(e.name)
		return name == key
	}
	return dr.items[e.orig].named(dr.src, key)
}

// find returns the index of the last entry with that name, or -1.
func (dr *draft) find(key string) int {
	for k := len(dr.entries) - 1; k >= 0; k-- {
		if dr.is(k, key) {
			return k
		}
	}
	return -1
}

// set changes the last member with that name, or adds one. It drops duplicates, so that readers
// that use the first and readers that use the last read the same value. Setting the value in
// each duplicate would multiply the length of the text.
func (dr *draft) set(key string, raw []byte) {
	found := false
	for k := len(dr.entries) - 1; k >= 0; k-- {
		switch {
		case !dr.is(k, key):
		case found:
			dr.drop(k)
		default:
			found = true
			dr.setValue(k, raw)
		}
	}
	if !found {
		dr.entries = append(dr.entries, entry{orig: -1, name: Quote(key), val: raw})
		dr.dirty = true
	}
}

func (dr *draft) setValue(k int, raw []byte) {
	if string(dr.value(k)) != string(raw) {
		dr.entries[k].val = raw
		dr.dirty = true
	}
}

func (dr *draft) drop(k int) {
	dr.entries[k].dropped = true
	dr.dirty = true
}

// append writes the object. The bytes between two retained members come from the text.
func (dr *draft) append(dst []byte) []byte {
	if !dr.dirty {
		return append(dst, dr.src...)
	}
	if len(dr.items) == 0 {
		return dr.appendToEmpty(dst)
	}
	dst = append(dst, dr.src[:dr.items[0].key]...)
	first := true
	for k := range dr.entries {
		e := &dr.entries[k]
		if e.dropped {
			continue
		}
		if !first {
			dst = dr.appendComma(dst, e.orig)
		}
		first = false
		dst = dr.appendEntry(dst, e)
	}
	return append(dst, dr.src[dr.items[len(dr.items)-1].end:]...)
}

// appendComma writes the comma before item orig with the surrounding white space.
func (dr *draft) appendComma(dst []byte, orig int) []byte {
	if orig <= 0 {
		return append(dst, ',')
	}
	return append(dst, dr.src[dr.items[orig-1].end:dr.items[orig].key]...)
}

func (dr *draft) appendEntry(dst []byte, e *entry) []byte {
	if e.orig < 0 {
		dst = append(append(dst, e.name...), ':')
		return append(dst, e.val...)
	}
	it := &dr.items[e.orig]
	if e.name != nil {
		dst = append(dst, e.name...)
	} else {
		dst = append(dst, dr.src[it.key:it.keyEnd]...)
	}
	dst = append(dst, dr.src[it.keyEnd:it.val]...)
	if e.val != nil {
		return append(dst, e.val...)
	}
	return append(dst, dr.src[it.val:it.end]...)
}

// appendToEmpty writes an object that had no members. Added members follow its opening bracket.
func (dr *draft) appendToEmpty(dst []byte) []byte {
	open := 0
	for dr.src[open] != '{' {
		open++
	}
	dst = append(dst, dr.src[:open+1]...)
	first := true
	for k := range dr.entries {
		if e := &dr.entries[k]; !e.dropped {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = dr.appendEntry(dst, e)
		}
	}
	return append(dst, dr.src[open+1:]...)
}
