package passage

// block is a value with a signature, such as a thinking block. It is removed as a whole, because
// its provider rejects a block with a changed text. For a signed value inside a list element, the
// element is the block.
type block struct {
	start, end int
	before     int // end of the previous element, or of the opening bracket
	next       int // start of the next element; 0 for the last
	group      int // its list; -1 outside of a list
	index      int // in the list
}

// group is a list with blocks.
type group struct {
	start, end int
	count      int    // number of elements
	emptied    string // value in its place when all are removed
	extra      bool
	fill       edit // further edit then; without text for none
}

// sign records a block that ends here and marks its passages.
func (w *walker) sign(start, first int) {
	id := int32(len(w.blocks)) //nolint:gosec // at most one for each byte of a body
	w.blocks = append(w.blocks, block{start: start, end: w.offset(), group: -1})
	for i := first; i < len(w.passages); i++ {
		w.passages[i].Signed = true
		w.spots[i].block = id
	}
}

// elements follows the elements of a list and assigns blocks to them.
type elements struct {
	*walker
	rule       *rule
	start, end int // of the list, and of the element before
	group      int // -1 without blocks
	count      int
	from       int // start of the current element
	blocksFrom int // number of blocks before the current element
	lastFrom   int // blocks of the element before
	lastTo     int
}

// begin starts an element.
func (e *elements) begin() {
	e.from = e.offset()
	for i := e.lastFrom; i < e.lastTo; i++ {
		if e.blocks[i].group == e.group {
			e.blocks[i].next = e.from
		}
	}
	e.blocksFrom = len(e.blocks)
}

// finish ends an element.
func (e *elements) finish() {
	if e.offset() == e.from {
		e.r.Raw() // its end is needed
	}
	end := e.offset()
	for i := e.blocksFrom; i < len(e.blocks); i++ {
		if b := &e.blocks[i]; b.group < 0 && (!e.rule.turns || b.start == e.from) {
			*b = block{start: e.from, end: end, before: e.end, group: e.ensureGroup(), index: e.count}
		}
	}
	e.lastFrom, e.lastTo = e.blocksFrom, len(e.blocks)
	e.end = end
	e.count++
}

func (e *elements) ensureGroup() int {
	if e.group < 0 {
		e.group = len(e.groups)
		e.groups = append(e.groups, group{start: e.start, emptied: e.rule.emptied, extra: e.rule.extra})
	}
	return e.group
}

// close ends the list.
func (e *elements) close() {
	if e.group >= 0 {
		g := &e.groups[e.group]
		g.end, g.count = e.offset(), e.count
	}
}

// removal returns the edits that remove blocks of a list, in the order of the list and without
// duplicates.
func (b *Body) removal(g *group, removed []block) []edit {
	if len(removed) == g.count {
		with := g.emptied
		if with == "" {
			with = "[]"
		}
		edits := []edit{{start: g.start, end: g.end, with: []byte(with)}}
		if g.fill.with != nil {
			edits = append(edits, g.fill)
		}
		return edits
	}
	tail := len(removed) // first of the removed blocks at the end of the list
	for tail > 0 && removed[tail-1].index == g.count-len(removed)+tail-1 {
		tail--
	}
	edits := make([]edit, 0, len(removed))
	for _, r := range removed[:tail] {
		edits = append(edits, edit{start: r.start, end: r.next})
	}
	if tail < len(removed) {
		edits = append(edits, edit{start: removed[tail].before, end: removed[len(removed)-1].end})
	}
	return edits
}
