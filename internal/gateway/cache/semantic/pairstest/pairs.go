// Package pairstest contains the pairs of questions on which the semantic cache is measured, and
// counts hits. Begin at Known and New; FIGURES.md describes the pairs.
package pairstest

import (
	_ "embed" // the pairs
	"fmt"
	"math"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/semantic/wordguard"
)

// Thresholds are those of the published figures.
var Thresholds = []float32{0.95, 0.90, 0.85, 0.80, 0.70, 0.60}

// Pair is two questions.
type Pair struct {
	Kind            string // "same", "negation-de"
	Stored, Current string
	Same            bool // one meaning; else the pair is a trap
	Cosine          float32
}

var (
	//go:embed pairs.tsv
	known string
	//go:embed newpairs.tsv
	unseen string
	//go:embed freshpairs.tsv
	fresh string
)

// Set is a named list of pairs.
type Set struct {
	Name  string
	Pairs []Pair
}

// Known returns the pairs that the guard was developed with.
func Known(t testing.TB) Set { return Set{"known", read(t, known)} }

// New returns the pairs that were committed before the guard ran on them.
func New(t testing.TB) Set { return Set{"new", read(t, unseen)} }

// Fresh returns pairs that were committed before the guard ran on them, after New had been measured.
func Fresh(t testing.TB) Set { return Set{"fresh", read(t, fresh)} }

// read reads lines "kind, text, text". Pairs of one meaning have a kind that begins with "same".
func read(t testing.TB, text string) (pairs []Pair) {
	t.Helper()
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields, want 3", line, len(fields))
		}
		pairs = append(pairs, Pair{Kind: fields[0], Stored: fields[1], Current: fields[2], Same: strings.HasPrefix(fields[0], "same")})
	}
	return pairs
}

// Language returns the pairs of a language of New: "en", "de", "es".
func (s Set) Language(code, name string) Set {
	out := Set{Name: s.Name + ", " + name}
	for _, p := range s.Pairs {
		if strings.HasSuffix(p.Kind, "-"+code) {
			out.Pairs = append(out.Pairs, p)
		}
	}
	return out
}

// Texts returns all texts, with duplicates.
func (s Set) Texts() (texts []string) {
	for _, p := range s.Pairs {
		texts = append(texts, p.Stored, p.Current)
	}
	return texts
}

// SetCosines computes the cosines from the vectors of Texts.
func (s Set) SetCosines(vectors [][]float32) {
	for i := range s.Pairs {
		s.Pairs[i].Cosine = cosine(vectors[2*i], vectors[2*i+1])
	}
}

func cosine(a, b []float32) float32 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return float32(ab / math.Sqrt(aa*bb))
}

// Count returns how many pairs of one meaning and how many traps a cache would serve.
func (s Set) Count(threshold float32, guarded bool) (right, falseHits int) {
	for _, p := range s.Pairs {
		if p.Cosine < threshold || guarded && wordguard.Compare(p.Stored, p.Current) != wordguard.Equal {
			continue
		}
		if p.Same {
			right++
		} else {
			falseHits++
		}
	}
	return right, falseHits
}

// Rows returns a row of a table for each threshold: name, threshold, right and false hits by cosine
// alone, and with the guard.
func (s Set) Rows() (rows []string) {
	same, traps := s.Count(-1, false)
	for _, threshold := range Thresholds {
		right, falseHits := s.Count(threshold, false)
		guardedRight, guardedFalse := s.Count(threshold, true)
		rows = append(rows, fmt.Sprintf("| %s | %.2f | %d of %d | %d of %d | %d | %d |",
			s.Name, threshold, right, same, falseHits, traps, guardedRight, guardedFalse))
	}
	return rows
}
