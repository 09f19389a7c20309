package jsonedit

// Edit is one change of an object. Edits apply in order, each to the result of the previous
// ones. They are values and may be shared.
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

// Set sets the top-level member key to the value raw. When the member exists, only the bytes of
// its value change. Otherwise it is added at the end. Of duplicates, the last is retained and
// the others are dropped. A dot in the key is part of the name.
func Set(key string, raw []byte) Edit { return Edit{op: opSet, path: key, raw: raw} }

// SetDefault is Set when no member has that name. A null counts as a missing member.
func SetDefault(key string, raw []byte) Edit { return Edit{op: opDefault, path: key, raw: raw} }

// SetPath is Set below the top level, for example "stream_options.include_usage". It creates
// missing objects on the path, and replaces values that are not objects. A path with an index
// changes nothing.
func SetPath(path string, raw []byte) Edit { return Edit{op: opSetPath, path: path, raw: raw} }

// Drop removes the parts that a path selects, each with one comma: "max_tokens",
// "metadata.user", "messages[*].name", "messages[0]". Missing members and invalid paths are
// ignored.
func Drop(path string) Edit { return Edit{op: opDrop, path: path} }

// DropAll is Drop for many paths at once. Each path selects in the original object:
// "messages[0]" and "messages[1]" are its first two elements. One pass over the object applies
// all paths. The Edit retains the list, which must not change.
func DropAll(paths []string) Edit { return Edit{op: opDropAll, all: paths} }

// Rename renames the members that a path selects, for example Rename("max_completion_tokens",
// "max_tokens") or Rename("data[*].image", "b64_json"). When the new name exists, the member is
// dropped: the existing member takes precedence. Of duplicates, the last is retained, which Doc
// reads, and the others are dropped.
func Rename(path, to string) Edit { return Edit{op: opRename, path: path, to: to} }

// Replace replaces raw values that a path selects, for example Replace("messages[*].role",
// map[string]string{`"developer"`: `"system"`}). Values that are not in the map are unchanged.
// The Edit retains the map, which must not change.
func Replace(path string, swap map[string]string) Edit {
	return Edit{op: opReplace, path: path, swap: swap}
}

// Apply returns the text with the edits in a new buffer. When they change nothing, it returns
// the scanned text itself.
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

// AppendApply appends the result of Apply to dst, for callers that reuse a buffer.
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
