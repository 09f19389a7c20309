package entry

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Tags are the ids by which entries are purged.
type Tags struct {
	Organisation string // id; never empty
	Workspace    string // id; never empty
	APIKey       string // id of the key of the caller who caused the entry
	Namespace    string // empty: none
	Config       string // id; empty: inline or none
	Model        string // requested model: "gpt-4o"
}

func (t *Tags) values() [tagCount]string {
	return [tagCount]string{t.Organisation, t.Workspace, t.APIKey, t.Namespace, t.Config, t.Model}
}

const tagCount = 6

// digestBytes is the size of a digest. 64 bits suffice: two values of one organisation that meet
// would purge too much, nothing more.
const digestBytes = 8

// Digests are hashes of the tags of an entry. They are stored in the clear, so that a store purges
// entries without opening them. A value has another digest in each organisation.
type Digests [tagCount][digestBytes]byte

// Digests returns the hashes of the tags.
func (t *Tags) Digests() (d Digests) {
	for i, value := range t.values() {
		d[i] = digest(t.Organisation, i, value)
	}
	return d
}

func digest(org string, kind int, value string) (d [digestBytes]byte) {
	b := binary.AppendUvarint([]byte("sluice cache tag v1"), uint64(len(org)))
	b = append(append(append(b, org...), byte(kind)), value...)
	sum := sha256.Sum256(b)
	copy(d[:], sum[:])
	return d
}

// Filter selects entries of one organisation. Every field that is set must match. With
// Organisation alone it selects all entries of the organisation.
type Filter struct {
	Organisation string // required; an empty one matches nothing
	Workspace    string
	APIKey       string
	Namespace    string
	Config       string
	Model        string
	Before       time.Time // created before; zero: at any time
}

// Matcher is a filter that is ready for many entries. It is safe for concurrent use.
type Matcher struct {
	digests Digests
	set     [tagCount]bool
	before  time.Time
}

// Matcher prepares the filter.
func (f *Filter) Matcher() *Matcher {
	t := Tags{f.Organisation, f.Workspace, f.APIKey, f.Namespace, f.Config, f.Model}
	m := &Matcher{digests: t.Digests(), before: f.Before}
	for i, value := range t.values() {
		m.set[i] = value != ""
	}
	return m
}

// Matches reports whether the filter selects an entry with these tags and that time of creation.
func (m *Matcher) Matches(d *Digests, created time.Time) bool {
	if !m.set[0] || !m.before.IsZero() && !created.Before(m.before) {
		return false
	}
	for i, set := range m.set {
		if set && d[i] != m.digests[i] {
			return false
		}
	}
	return true
}

// Selects reports whether the filter selects the entry. A store that has the tags of its entries
// needs no digests.
func (f *Filter) Selects(e *Entry) bool {
	if f.Organisation == "" || !f.Before.IsZero() && !e.Created.Before(f.Before) {
		return false
	}
	want := Tags{f.Organisation, f.Workspace, f.APIKey, f.Namespace, f.Config, f.Model}
	have := e.Tags.values()
	for i, value := range want.values() {
		if value != "" && value != have[i] {
			return false
		}
	}
	return true
}
