package embedding

import (
	_ "embed" // the data files
	"encoding/binary"
	"math"
	"sync"
	"unicode/utf8"
)

const (
	// Dimensions is the length of a Vector.
	Dimensions = 128

	// MaxBytes is how much of a text Embed reads: 32 KiB, about 8,000 tokens of English. A caller
	// for whom the rest counts splits the text or rejects it.
	MaxBytes = 32 << 10
)

// Vector is the embedding of a text, of length 1: {-0.045, -0.037, 0.226, …}.
type Vector [Dimensions]float32

// Model embeds texts. It is safe for concurrent use and never changes. Get it with Load.
type Model struct {
	vocabulary *vocabulary
	rows       []byte // int8 [entries][Dimensions]; read only
	scales     string // little-endian float32 [entries]; the values of a row are int8 * scale
}

//go:embed data/vocab.txt
var vocabularyFile string

//go:embed data/embed-128.i8
var rowsFile []byte

//go:embed data/scale.f32
var scalesFile string

var load = sync.OnceValue(func() *Model {
	entries := min(len(rowsFile)/Dimensions, len(scalesFile)/4)
	return &Model{vocabulary: newVocabulary(vocabularyFile, entries), rows: rowsFile, scales: scalesFile}
})

// Load returns the built-in model. The first call indexes the vocabulary, which takes a few
// milliseconds and 400 KB; later calls return the same Model. The vectors stay in the binary.
func Load() *Model { return load() }

// Embed returns the vector of a text. It reports false for a text without a token that the
// vocabulary contains, such as "" or " ". Only the first MaxBytes count. It does not allocate.
func (m *Model) Embed(text string) (Vector, bool) {
	var sum Vector
	var ids [maxWordRunes]uint16
	s := scanner{text: truncate(text)}
	for s.next() {
		for _, id := range m.vocabulary.split(s.word(), &ids) {
			m.addRow(&sum, int(id))
		}
	}
	return sum, sum.normalise()
}

// truncate cuts a text to MaxBytes, between two characters.
func truncate(text string) string {
	if len(text) <= MaxBytes {
		return text
	}
	end := MaxBytes
	for end > MaxBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// addRow adds the vector of a vocabulary entry to sum.
func (m *Model) addRow(sum *Vector, id int) {
	scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(m.scales[id*4 : id*4+4])))
	if scale == 0 {
		return
	}
	row := (*[Dimensions]byte)(m.rows[id*Dimensions:])
	for i := 0; i < Dimensions; i += 4 {
		sum[i] += float32(int8(row[i])) * scale
		sum[i+1] += float32(int8(row[i+1])) * scale
		sum[i+2] += float32(int8(row[i+2])) * scale
		sum[i+3] += float32(int8(row[i+3])) * scale
	}
}

// normalise gives v the length 1. It reports false if v is zero.
func (v *Vector) normalise() bool {
	length := math.Sqrt(float64(dot(v, v)))
	if length == 0 {
		return false
	}
	factor := float32(1 / length)
	for i := range v {
		v[i] *= factor
	}
	return true
}

// Cosine returns how similar two vectors of Embed are: 1 for equal ones, about 0 for unrelated
// ones, -1 at the least.
func Cosine(a, b *Vector) float32 { return dot(a, b) }

// dot sums in four lanes, so that one addition does not wait for the one before.
func dot(a, b *Vector) float32 {
	var s0, s1, s2, s3 float32
	for i := 0; i < Dimensions; i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}
