package index

import (
	"math"
	"slices"
	"sort"

	"sluice/internal/gateway/cache/semantic/vectorstore"
)

// blockSize is how many dimensions are compared before the search checks whether the threshold is
// still within reach.
const blockSize = 128

// unit is a vector of length 1. tails[i] is the length of the vector without its first i blocks.
type unit struct {
	values []float32
	tails  []float32
}

func newUnit(vector []float32) unit {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	factor := 1 / math.Sqrt(sum)
	u := unit{values: make([]float32, len(vector)), tails: make([]float32, (len(vector)+blockSize-1)/blockSize)}
	for i, x := range vector {
		u.values[i] = float32(float64(x) * factor)
	}
	tail := 0.0
	for block := len(u.tails) - 1; block >= 0; block-- {
		for _, x := range u.block(block) {
			tail += float64(x) * float64(x)
		}
		u.tails[block] = float32(math.Sqrt(tail))
	}
	return u
}

func (u *unit) block(i int) []float32 {
	return u.values[i*blockSize : min((i+1)*blockSize, len(u.values))]
}

func (u *unit) size() int64 { return 4 * int64(len(u.values)+len(u.tails)) }

// rounding is how far the sums of float32 numbers may be from the exact ones.
const rounding = 1e-5

// cosine returns the cosine of two vectors. It reports false if the cosine is below the threshold,
// or if the vectors have different lengths. After each block, the rest of the product is at most the
// product of the lengths of the rests (Cauchy and Schwarz), so most vectors need few blocks.
func (u *unit) cosine(v *unit, threshold float32) (cosine float32, ok bool) {
	if len(u.values) != len(v.values) {
		return 0, false
	}
	for i := range u.tails {
		if cosine+u.tails[i]*v.tails[i]+rounding < threshold {
			return 0, false
		}
		cosine += dot(u.block(i), v.block(i))
	}
	return cosine, cosine >= threshold
}

func dot(a, b []float32) (sum float32) {
	if len(a) == blockSize && len(b) == blockSize {
		return dotBlock((*[blockSize]float32)(a), (*[blockSize]float32)(b))
	}
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return sum
}

// dotBlock sums in four lanes, so that one addition does not wait for the one before.
func dotBlock(a, b *[blockSize]float32) float32 {
	var s0, s1, s2, s3 float32
	for i := 0; i < blockSize; i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}

// ranking is the best matches so far, the most similar first.
type ranking struct {
	threshold float32 // smallest cosine that is a match; grows when the ranking is full
	max       int
	found     []found
}

type found struct {
	entry  *entry
	cosine float32
}

func (r *ranking) add(e *entry, cosine float32) {
	i := sort.Search(len(r.found), func(i int) bool { return r.found[i].cosine < cosine })
	if i == r.max {
		return
	}
	r.found = slices.Insert(r.found, i, found{e, cosine})
	if len(r.found) > r.max {
		r.found = r.found[:r.max]
	}
	if len(r.found) == r.max {
		r.threshold = r.found[r.max-1].cosine
	}
}

// matches returns the ranking, and marks its entries as used.
func (r *ranking) matches() []vectorstore.Match {
	out := make([]vectorstore.Match, 0, len(r.found))
	for _, f := range r.found {
		f.entry.used.Store(true)
		out = append(out, vectorstore.Match{Key: f.entry.key, Text: f.entry.text, Cosine: f.cosine})
	}
	return out
}
