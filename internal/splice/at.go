package splice

import "strconv"

// At calls do with each value that a path selects, as Drop selects them, and the place where
// it stands: "messages[2].name" for "messages[*].name". Raw points into the scanned text. Twins
// of a name have one place and come both.
func (d *Doc) At(path string, do func(place string, raw []byte)) {
	st, rest, ok := cut(path)
	if !ok || st.index != noIndex {
		return
	}
	for k := range d.items {
		if it := &d.items[k]; it.named(d.src, st.key) {
			at(d.src[it.val:it.end], next(rest), st.key, do)
		}
	}
}

// at is At on any value; one that is not the container which the path is about has nothing
// to select.
func at(raw []byte, path, place string, do func(place string, raw []byte)) {
	if path == "" {
		do(place, raw)
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
			at(val, next(rest), place+"."+st.key, do)
		case !member && (st.index == every || st.index == k):
			at(val, next(rest), place+"["+strconv.Itoa(k)+"]", do)
		}
	})
}
