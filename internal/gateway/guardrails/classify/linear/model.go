package linear

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// Model has the weights of all categories, quantised to eight bits.
type Model struct {
	Categories   []string  // "hate"
	Thresholds   []float64 // scores from which a category counts as found
	Bias         []float64
	ConceptScale []float64 // value of one step of a weight of concepts and pairs
	HashScale    []float64 // the same, of hashed features
	weights      []int8    // feature after feature, each with all categories
	rows         []row     // the weights again, by feature
}

// Quantise returns a model with these weights: one list of Features weights for each category, of which there are
// at most MaxCategories.
func Quantise(categories []string, thresholds, bias []float64, weights [][]float32) *Model {
	n := len(categories)
	m := &Model{
		Categories: categories, Thresholds: thresholds, Bias: bias,
		ConceptScale: make([]float64, n), HashScale: make([]float64, n), weights: make([]int8, Features*n),
	}
	for c := range categories {
		m.ConceptScale[c] = step(weights[c][:firstHash])
		m.HashScale[c] = step(weights[c][firstHash:])
		for f, w := range weights[c] {
			scale := m.ConceptScale[c]
			if f >= firstHash {
				scale = m.HashScale[c]
			}
			m.weights[f*n+c] = int8(math.Round(float64(w) / scale))
		}
	}
	m.pack()
	return m
}

// step returns the value of one step for weights.
func step(weights []float32) float64 {
	largest := 1e-6
	for _, w := range weights {
		largest = max(largest, math.Abs(float64(w)))
	}
	return largest / 127
}

// MaxCategories is the number of categories that a model can have.
const MaxCategories = 3 * perLane

// row has the weights of one feature: each in 16 bits, plus laneBias so that it is not negative. Adding the
// numbers of two rows adds the weights of four categories at a time.
type row [MaxCategories / perLane]uint64

// Settings of rows.
const (
	laneBits = 16
	perLane  = 64 / laneBits
	laneBias = 128
	laneFull = 255 // weights that may be added before 16 bits overflow
)

// pack fills the rows from the weights.
func (m *Model) pack() {
	n := len(m.Categories)
	m.rows = make([]row, Features)
	for f := range m.rows {
		for c := range n {
			w := uint64(int(m.weights[f*n+c]) + laneBias)
			m.rows[f][c/perLane] |= w << (c % perLane * laneBits)
		}
	}
}

// sum adds the weights of features, by category.
func (m *Model) sum(features []uint16, out []int32) {
	clear(out)
	for len(features) > 0 {
		part := features[:min(laneFull, len(features))]
		features = features[len(part):]
		var total row
		for _, f := range part {
			r := &m.rows[f]
			total[0] += r[0]
			total[1] += r[1]
			total[2] += r[2]
		}
		for c := range out {
			out[c] += int32(total[c/perLane]>>(c%perLane*laneBits)&0xFFFF) - int32(laneBias*len(part))
		}
	}
}

// numbers is how many numbers of a category the binary form has.
const numbers = 4

// Encode returns the binary form: for each category four float32 in the order of the fields, then the
// weights.
func (m *Model) Encode() []byte {
	var b bytes.Buffer
	for c := range m.Categories {
		for _, v := range [numbers]float64{m.Thresholds[c], m.Bias[c], m.ConceptScale[c], m.HashScale[c]} {
			b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
		}
	}
	for _, w := range m.weights {
		b.WriteByte(byte(w))
	}
	return b.Bytes()
}

// Decode reads the binary form of a model of these categories.
func Decode(categories []string, data []byte) (*Model, error) {
	n := len(categories)
	if n > MaxCategories || len(data) != n*numbers*4+n*Features {
		return nil, errors.New("the model does not fit its categories; train it again")
	}
	m := &Model{Categories: categories, weights: make([]int8, n*Features)}
	for range categories {
		m.Thresholds = append(m.Thresholds, number(data, 0))
		m.Bias = append(m.Bias, number(data, 1))
		m.ConceptScale = append(m.ConceptScale, number(data, 2))
		m.HashScale = append(m.HashScale, number(data, 3))
		data = data[numbers*4:]
	}
	for i, b := range data {
		m.weights[i] = int8(b)
	}
	m.pack()
	return m, nil
}

func number(data []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
}
