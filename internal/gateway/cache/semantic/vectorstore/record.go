package vectorstore

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"time"
	"unicode/utf8"
)

// Sealer encrypts texts outside of the process. *sealed.Sealer implements it. Its methods are safe
// for concurrent use.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(data []byte, context string) ([]byte, error)
}

// Metadata is what a remote store stores next to a vector. It shows no text if there is a Sealer.
type Metadata struct {
	Partition string  `json:"partition"`        // in hexadecimal
	Expires   float64 `json:"expires"`          // seconds since 1970; stores return all numbers as floats
	Text      string  `json:"text,omitempty"`   // without a Sealer
	Sealed    string  `json:"sealed,omitempty"` // with a Sealer, in base64
}

// Records converts entries to the metadata of a remote store, and back. Sealer may be nil.
type Records struct{ Sealer Sealer }

// Encode returns the metadata of an entry.
func (r Records) Encode(e *Entry) (Metadata, error) {
	m := Metadata{Partition: e.Partition.String(), Expires: float64(e.Expires.Unix())}
	if r.Sealer == nil {
		m.Text = e.Text
		return m, nil
	}
	data, err := r.Sealer.Seal([]byte(e.Text), sealContext(e.Key.String(), m.Partition))
	m.Sealed = base64.StdEncoding.EncodeToString(data)
	return m, err
}

// Match returns what a store found as a match of a search. It reports false for an entry of another
// partition, an expired one, and one whose text cannot be read: the store is not trusted to filter.
func (r Records) Match(id string, m *Metadata, cosine float32, s *Search, now time.Time) (Match, bool) {
	var key Key
	if n, err := hex.Decode(key[:], []byte(id[:min(len(id), 2*len(key))])); err != nil || n != len(key) || len(id) != 2*n {
		return Match{}, false
	}
	if m.Partition != s.Partition.String() || float64(now.Unix()) >= m.Expires || !(cosine >= s.Threshold) {
		return Match{}, false
	}
	text, ok := r.text(id, m)
	return Match{Key: key, Text: text, Cosine: min(cosine, 1)}, ok
}

func (r Records) text(id string, m *Metadata) (string, bool) {
	if r.Sealer == nil {
		return m.Text, m.Sealed == "" && utf8.ValidString(m.Text)
	}
	data, err := base64.StdEncoding.DecodeString(m.Sealed)
	if err != nil {
		return "", false
	}
	plain, err := r.Sealer.Open(data, sealContext(id, m.Partition))
	return string(plain), err == nil
}

// sealContext binds a sealed text to its entry, so that it cannot be moved to another partition.
func sealContext(id, partition string) string { return "semantic cache " + id + " " + partition }

// Best returns the most similar matches, the best first, at most as many as the search requests. It
// sorts found.
func Best(found []Match, s *Search) []Match {
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return found[:min(len(found), s.MaxCount())]
}
