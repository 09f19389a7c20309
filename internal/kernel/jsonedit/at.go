package jsonedit

import "strconv"

// EachValue calls do with each value that a path selects, in the same way as Drop, and with its
// location: "messages[2].name" for "messages[*].name". raw points into the scanned text.
// Duplicate members have the same location, and do is called for each.
func (d *Doc) EachValue(path string, do func(location string, raw []byte)) {
	st, rest, ok := cut(path)
	if !ok || st.index != noIndex {
		return
	}
	for k := range d.items {
		if it := &d.items[k]; it.named(d.src, st.key) {
			eachValue(d.src[it.val:it.end], next(rest), st.key, do)
		}
	}
}

// eachValue is EachValue for any value. A value that is not the container named in the path
// selects nothing.
func eachValue(raw []byte, path, location string, do func(location string, raw []byte)) {
	if path == "" {
		do(location, raw)
		return
	}
	st, rest, ok := cut(path)
	member := st.index == noIndex
	if !ok || member && !container(raw, '{') || !member && !container(raw, '[') {
		return
	}
	eachItem(raw, func(k int, it item) {
		switch val := raw[it.val:it.end]; {
		case member && it.named(raw, st.key):
			eachValue(val, next(rest), location+"."+st.key, do)
		case !member && (st.index == every || st.index == k):
			eachValue(val, next(rest), location+"["+strconv.Itoa(k)+"]", do)
		}
	})
}
