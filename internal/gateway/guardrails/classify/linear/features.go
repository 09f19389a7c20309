package linear

import (
	"bytes"
	"math/bits"
)

// Sizes of the feature space.
const (
	hashBits  = 14
	buckets   = 1 << hashBits             // hashed words and parts of words
	pairs     = MaxConcepts * MaxConcepts // ordered pairs of concepts
	firstPair = MaxConcepts
	firstHash = firstPair + pairs
	Features  = firstHash + buckets // number of features
	maxHits   = 32                  // concepts of a sentence, in their order
)

// sentence has the features of one sentence.
type sentence struct {
	concepts uint64
	hits     [maxHits]uint8 // concepts in the order of the text
	n        int            // number of hits
	hashes   []uint16       // features of its words and parts of words
}

// read fills the features from plain words.
func (s *sentence) read(words []byte, lex *Lexicon) {
	s.concepts, s.n, s.hashes = 0, 0, s.hashes[:0]
	previous := uint32(0)
	for at := 1; at < len(words); {
		end := at + bytes.IndexByte(words[at:], ' ')
		if end < at {
			end = len(words)
		}
		s.hit(lex.match(words[at:]))
		previous = s.word(words[at-1:min(end+1, len(words))], previous)
		at = end + 1
	}
}

// hit records the concepts of one place.
func (s *sentence) hit(found uint64) {
	s.concepts |= found
	for ; found != 0 && s.n < maxHits; found &= found - 1 {
		s.hits[s.n] = uint8(bits.TrailingZeros64(found))
		s.n++
	}
}

// word adds the features of a word with the spaces around it, and returns its hash.
func (s *sentence) word(padded []byte, previous uint32) uint32 {
	h, part := uint32(2166136261), uint32(0) // FNV-1a of the word, and its last four bytes
	for i, c := range padded {
		h = (h ^ uint32(c)) * 16777619
		part = part<<8 | uint32(c)
		if i >= 3 {
			s.hashes = append(s.hashes, bucket(part*0x9E3779B1+1))
		}
	}
	s.hashes = append(s.hashes, bucket(h), bucket(h*31+previous+7))
	return h
}

// bucket returns the feature of a hash.
func bucket(h uint32) uint16 { return uint16(firstHash + (h*0x85EBCA6B)>>(32-hashBits)) }

// pairSet has the ordered pairs of concepts of a window, once each.
type pairSet [MaxConcepts]uint64

// add adds the pairs of one sentence, and returns those that are new, as positions of features.
func (p *pairSet) add(hits []uint8, out []uint16) []uint16 {
	var seen uint64
	for _, b := range hits {
		for rest := seen &^ p[b]; rest != 0; rest &= rest - 1 {
			a := bits.TrailingZeros64(rest)
			out = append(out, uint16(firstPair+a*MaxConcepts+int(b)))
		}
		p[b] |= seen
		seen |= 1 << b
	}
	return out
}
