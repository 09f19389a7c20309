package guardedstream

import (
	"bytes"
	"slices"
	"strconv"

	"sluice/internal/kernel/jsonedit"
)

// patch replaces a part of an event.
type patch struct {
	at   span // in the base of the event
	with []byte
}

// removal is the calls, blocks and items that are not released, by choice in ascending order.
type removal struct {
	indexes map[int][]int
	dropped int // events that were dropped
}

func (r *removal) add(p position) {
	list := r.indexes[p.choice]
	at, found := slices.BinarySearch(list, p.index)
	if found {
		return
	}
	if r.indexes == nil {
		r.indexes = map[int][]int{}
	}
	r.indexes[p.choice] = slices.Insert(list, at, p.index)
}

func (r *removal) contains(p position) bool {
	_, found := slices.BinarySearch(r.indexes[p.choice], p.index)
	return found
}

// shifted returns the index of a position after the removal.
func (r *removal) shifted(p position) int {
	n, _ := slices.BinarySearch(r.indexes[p.choice], p.index)
	return p.index - n
}

// drops reports whether the complete event is removed.
func (r *removal) drops(e *event) bool {
	if len(r.indexes) == 0 {
		return false
	}
	if e.belongs && r.contains(e.position) {
		return true
	}
	if !e.onlyCall || len(e.elements) == 0 {
		return false
	}
	return !slices.ContainsFunc(e.elements, func(m element) bool { return !r.contains(m.position) })
}

// render returns the event after edits and removals. The result shares the memory of the event if
// nothing changed.
func (r *removal) render(e *event, reasonFor func(finish) string) []byte {
	var patches []patch
	for _, f := range e.fragments {
		if f.isEdited() || f.form == tokens && e.isTextEdited(f.channel.id.Choice) {
			at := f.at
			if f.form != plain {
				at = span{at.start + e.off, at.end + e.off}
			}
			patches = append(patches, patch{at, f.render(e.base[at.start])})
		}
	}
	if len(r.indexes) > 0 {
		patches = append(patches, r.renumber(e)...)
		patches = append(patches, r.cut(e)...)
		for _, f := range e.finishes {
			if reason := reasonFor(f); reason != f.reason {
				patches = append(patches, patch{span{f.at.start + e.off, f.at.end + e.off}, jsonedit.Quote(reason)})
			}
		}
	}
	if len(patches) == 0 {
		return e.raw
	}
	return applyPatches(e.base, patches)
}

// renumber returns the changes of the indexes in an event.
func (r *removal) renumber(e *event) (patches []patch) {
	for _, n := range e.numbers {
		value := r.shifted(n.position)
		if n.sequence {
			value = n.position.index - r.dropped
		}
		if value != n.position.index {
			patches = append(patches, patch{span{n.at.start + e.off, n.at.end + e.off}, strconv.AppendInt(nil, int64(value), 10)})
		}
	}
	return patches
}

// cut returns the removal of members of lists, each with one comma.
func (r *removal) cut(e *event) (patches []patch) {
	retained := false
	for i, m := range e.elements {
		first := i == 0 || e.elements[i-1].list != m.list
		if first {
			retained = false
		}
		if !r.contains(m.position) {
			retained = true
			continue
		}
		if m.list == m.at { // a member of an object
			patches = append(patches, patch{span{m.at.start + e.off, m.at.end + e.off}, []byte("null")})
			continue
		}
		s := m.at
		switch {
		case retained:
			s.start = e.elements[i-1].at.end
		case i+1 < len(e.elements) && e.elements[i+1].list == m.list:
			s.end = e.elements[i+1].at.start
		}
		patches = append(patches, patch{span{s.start + e.off, s.end + e.off}, nil})
	}
	return patches
}

// applyPatches applies changes to b. A change inside a removed part has no effect.
func applyPatches(b []byte, patches []patch) []byte {
	slices.SortStableFunc(patches, func(x, y patch) int {
		if x.at.start != y.at.start {
			return x.at.start - y.at.start
		}
		return y.at.end - x.at.end
	})
	var out bytes.Buffer
	at := 0
	for _, p := range patches {
		if p.at.start < at {
			continue
		}
		out.Write(b[at:p.at.start])
		out.Write(p.with)
		at = p.at.end
	}
	out.Write(b[at:])
	return out.Bytes()
}
