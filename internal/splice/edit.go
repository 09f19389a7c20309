package splice

// Edit is one change of an object. Edits are applied in order, each on the result of
// those before it. They are values and may be shared.
//
// The raw values must be valid JSON without white space around them, for example
// `"gpt-4o"` with its quotes; they are put in as they are.
type Edit struct {
	op   op
	path string
	to   string
	raw  []byte
	swap map[string]string
	all  []string // paths of DropAll
}

type op uint8

const (
	opSet op = iota
	opDefault
	opSetPath
	opDrop
	opRename
	opReplace
	opDropAll
)

// Set gives the top-level member key the value raw. Where the member stands already,
// only the bytes of its value change; otherwise it is added at the end. Of twins the last
// is kept and the others are dropped. A dot in the key is part of the name.
func Set(key string, raw []byte) Edit { return Edit{op: opSet, path: key, raw: raw} }

// SetDefault is Set when there is no member of that name; a null counts as one.
func SetDefault(key string, raw []byte) Edit { return Edit{op: opDefault, path: key, raw: raw} }

// SetPath is Set below the top level, for example "stream_options.include_usage". What
// is missing on the way is made; what is there but no object is replaced by one. A
// path with an index changes nothing.
func SetPath(path string, raw []byte) Edit { return Edit{op: opSetPath, path: path, raw: raw} }

// Drop removes what a path selects, together with one comma: "max_tokens",
// "metadata.user", "messages[*].name", "messages[0]". What is not there, and what is
// no path, is ignored.
func Drop(path string) Edit { return Edit{op: opDrop, path: path} }

// DropAll is Drop for many paths at once. Each selects in the object as it was before any of
// them: "messages[0]" and "messages[1]" are its first two elements. The object is gone
// through once, however many paths there are. The list is kept and must not change.
func DropAll(paths []string) Edit { return Edit{op: opDropAll, all: paths} }

// Rename gives the members that a path selects another name, for example
// Rename("max_completion_tokens", "max_tokens") or Rename("data[*].image", "b64_json").
// Where that name is taken the member is dropped: the name that the reader knows wins. Of
// twins the last is kept, the one that Doc reads, and the others are dropped.
func Rename(path, to string) Edit { return Edit{op: opRename, path: path, to: to} }

// Replace exchanges raw values that a path selects by others, for example
// Replace("messages[*].role", map[string]string{`"developer"`: `"system"`}). Values
// that are not in the map stay. The map is kept and must not change.
func Replace(path string, swap map[string]string) Edit {
	return Edit{op: opReplace, path: path, swap: swap}
}

// Apply returns the text with the edits in it, in a buffer of its own. When they
// change nothing it returns the scanned text itself.
func (d *Doc) Apply(edits []Edit) []byte {
	dr := d.draft()
	dr.apply(edits)
	d.entries = dr.entries
	if !dr.dirty {
		return d.src
	}
	grow := 0
	for k := range edits {
		grow += len(edits[k].raw) + len(edits[k].path) + len(edits[k].to) + 8
	}
	return dr.append(make([]byte, 0, len(d.src)+grow))
}

// AppendApply is Apply into dst, for callers that keep a buffer.
func (d *Doc) AppendApply(dst []byte, edits []Edit) []byte {
	dr := d.draft()
	dr.apply(edits)
	d.entries = dr.entries
	return dr.append(dst)
}

func (d *Doc) draft() draft { return newDraft(d.src, d.items, d.entries[:0]) }

func (dr *draft) apply(edits []Edit) {
	for k := range edits {
		e := &edits[k]
		switch e.op {
		case opSet:
			dr.set(e.path, e.raw)
		case opDefault:
			if dr.find(e.path) < 0 {
				dr.set(e.path, e.raw)
			}
		case opSetPath:
			dr.setPath(e.path, e.raw)
		case opDropAll:
			dr.dropAll(e.all)
		default:
			dr.walk(e.path, e)
		}
	}
}
