package jsonschema

import (
	"net/url"
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// The maximum size of a schema whose references are inlined, the maximum depth of references, and
// the maximum number of bytes read for them. Without limits a small schema could grow endlessly.
const (
	MaxBytes         = 1 << 20
	MaxDepth         = 64
	maxFollowedBytes = 16 * MaxBytes
)

const refMember = "$ref"

// Refs resolves the references of one JSON schema. It belongs to one goroutine.
type Refs struct {
	root     []byte
	inside   map[string]map[string][]byte // members of the values that references lead through, by the names that lead to them
	followed int                          // total size of the values that references led to so far
}

// NewRefs returns the Refs of a schema, which must not change.
func NewRefs(schema []byte) *Refs { return &Refs{root: schema} }

// Follow resolves a reference such as {"$ref":"#/$defs/address"}. It reports false for anything
// that is not a reference into the schema itself, and for a reference that leads back to itself.
// Path are the references that led here; next adds this one.
func (r *Refs) Follow(raw []byte, path []string) (to []byte, next []string, ok bool) {
	ref, found := jsonedit.Find(raw, refMember)
	name, isText := jsonedit.Unquote(ref)
	if !found || !isText {
		return nil, nil, false
	}
	for _, p := range path {
		if p == name {
			return nil, nil, false
		}
	}
	keys, local := strings.CutPrefix(name, "#/")
	if !local {
		return nil, nil, false
	}
	if to = r.lookup(pointed(keys)); to == nil || r.followed+len(to) > maxFollowedBytes {
		return nil, nil, false
	}
	r.followed += len(to)
	return to, append(path[:len(path):len(path)], name), true
}

// lookup is the value that a chain of names leads to below the root; nil if there is none. Each
// object on the way is read once, even if many references lead through it.
func (r *Refs) lookup(names []string) []byte {
	raw, led := r.root, ""
	for _, name := range names {
		members, known := r.inside[led]
		if !known {
			members = map[string][]byte{}
			if len(raw) > 0 && raw[0] == '[' {
				for v := range jsonedit.Elements(raw) {
					members[strconv.Itoa(len(members))] = v
				}
			}
			for n, val := range jsonedit.Members(raw) {
				if key, _ := jsonedit.Unquote(n); members[key] == nil {
					members[key] = val
				}
			}
			if r.inside == nil {
				r.inside = map[string]map[string][]byte{}
			}
			r.inside[led] = members
		}
		raw, led = members[name], led+strconv.Quote(name)
	}
	return raw
}

// pointed are the names in a JSON pointer that is a URI fragment: "$defs/a~1b%20c".
// Source: RFC 6901 sections 4 and 6.
func pointed(pointer string) []string {
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	names := strings.Split(pointer, "/")
	for i := range names {
		names[i] = unescaped.Replace(names[i])
	}
	return names
}

// unescaped decodes the two escapes of names in a pointer.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~")
