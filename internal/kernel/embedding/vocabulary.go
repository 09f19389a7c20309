package embedding

import "strings"

const (
	// unknownID is the entry [UNK], for words that the vocabulary cannot spell.
	unknownID = 100

	// continued begins the entries that continue a word: "##ization".
	continued = "##"

	// maxEntryBytes bounds the prefixes that split looks up. The longest entry has 18 bytes.
	maxEntryBytes = 32

	// slotCount is the size of the hash table: a power of two, twice the number of entries.
	slotCount = 1 << 16
)

// FNV-1a, 32 bits.
const (
	hashOffset = 2166136261
	hashPrime  = 16777619
)

// vocabulary finds the id of an entry. It is an open hash table over the text of the file, which
// needs a tenth of the memory of a map.
type vocabulary struct {
	text    string
	starts  []uint32 // offset of each entry in text; one more for the end
	slots   []uint16 // id+1 of the entry whose hash leads here; 0 for a free slot
	longest int      // bytes of the longest entry
	inside  uint32   // hash of continued, where entries inside a word begin
}

// newVocabulary indexes the first maxEntries lines of text. The id of an entry is its line number,
// from 0.
func newVocabulary(text string, maxEntries int) *vocabulary {
	v := &vocabulary{text: text, starts: make([]uint32, 1, maxEntries+1), slots: make([]uint16, slotCount), inside: hashString(hashOffset, continued)}
	for id := range min(maxEntries, slotCount/2) {
		start := int(v.starts[id])
		length := strings.IndexByte(text[start:], '\n')
		if length < 0 {
			break
		}
		v.starts = append(v.starts, uint32(start+length+1))
		v.longest = max(v.longest, min(length, maxEntryBytes))
		v.insert(id, hashString(hashOffset, text[start:start+length]))
	}
	return v
}

func hashString(h uint32, s string) uint32 {
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * hashPrime
	}
	return h
}

func (v *vocabulary) insert(id int, hash uint32) {
	slot := hash % slotCount
	for v.slots[slot] != 0 {
		slot = (slot + 1) % slotCount
	}
	v.slots[slot] = uint16(id + 1)
}

// find returns the id of the entry prefix+word with this hash.
func (v *vocabulary) find(hash uint32, prefix string, word []byte) (id uint16, ok bool) {
	for slot := hash % slotCount; v.slots[slot] != 0; slot = (slot + 1) % slotCount {
		id := v.slots[slot] - 1
		entry := v.text[v.starts[id] : v.starts[id+1]-1]
		if len(entry) == len(prefix)+len(word) && entry[:len(prefix)] == prefix && entry[len(prefix):] == string(word) {
			return id, true
		}
	}
	return 0, false
}

// split returns the ids of the longest entries that spell the word, in ids. A word that the
// vocabulary cannot spell is one unknownID, as are words of more than maxWordRunes characters
// (an empty slice).
func (v *vocabulary) split(word []byte, ids *[maxWordRunes]uint16) []uint16 {
	n := 0
	for start := 0; start < len(word) || n == 0; n++ {
		id, length := v.longestEntry(word[start:], start > 0)
		if length == 0 || n == len(ids) {
			ids[0] = unknownID
			return ids[:1]
		}
		ids[n] = id
		start += length
	}
	return ids[:n]
}

// longestEntry returns the longest entry that rest begins with, and its length; 0 for none.
func (v *vocabulary) longestEntry(rest []byte, insideWord bool) (id uint16, length int) {
	hash, prefix := uint32(hashOffset), ""
	if insideWord {
		hash, prefix = v.inside, continued
	}
	var hashes [maxEntryBytes + 1]uint32 // of the first n bytes
	longest := min(len(rest), v.longest)
	for i := range longest {
		hash = (hash ^ uint32(rest[i])) * hashPrime
		hashes[i+1] = hash
	}
	for n := longest; n > 0; n-- {
		if id, ok := v.find(hashes[n], prefix, rest[:n]); ok {
			return id, n
		}
	}
	return 0, 0
}
