// Package gibberish finds text that means nothing: random letters, walks over a keyboard, repeated letters and
// rows of signs. It compares the sequences of letters with those of 30 languages of the Latin script. It does
// not judge other scripts, and real words in a senseless order pass. Codes, addresses and
// words with digits do not count. Start reading at Judge.
package gibberish

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"sync"
)

// The table has the cost of each sequence of three letters from aaa to zzz: eight times the binary logarithm
// of how rare it is in the language that uses it most, at most 255. It is computed from the models of
// lingua (Apache-2.0).
//
//go:embed trigrams.bin
var trigrams []byte

// The weights are float32: the threshold, the bias, and one for each feature.
//
//go:embed model.bin
var weights []byte

// Detector judges texts. It is immutable and safe for concurrent use.
type Detector struct {
	table     []byte
	threshold float64
	bias      float64
	weights   Features
}

// Letters is the number of letters of the alphabet; the table has Letters*Letters*Letters costs.
const Letters = 26

// Load returns the detector of the program.
var Load = sync.OnceValues(func() (*Detector, error) { return New(trigrams, weights) })

// New returns a detector with a table and weights in their binary forms.
func New(table, weights []byte) (*Detector, error) {
	if len(table) != Letters*Letters*Letters || len(weights) != 4*(2+len(Features{})) {
		return nil, errors.New("the files of the gibberish model do not fit; train it again")
	}
	number := func(i int) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(weights[4*i:]))) }
	d := &Detector{table: table, threshold: number(0), bias: number(1)}
	for i := range d.weights {
		d.weights[i] = number(i + 2)
	}
	return d, nil
}

// Threshold returns the score from which a text counts as gibberish.
func (d *Detector) Threshold() float64 { return d.threshold }

// minLetters is the number of letters or signs below which a text is not judged: "ok", "hmm", "???".
const minLetters = 8

// Judge returns how likely the worst part of a text is gibberish, from 0 to 1. It reports false for a text
// that has too few words to judge. The error is that of ctx. Time grows linearly with the text.
func (d *Detector) Judge(ctx context.Context, text string) (score float64, judged bool, err error) {
	r := reader{text: text, table: d.table}
	var before, now counts
	for i := 0; ; i++ {
		if i%64 == 0 && ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		more := r.block(&now)
		both := now
		both.add(&before)
		if both.letters+both.signs >= minLetters {
			judged = true
			score = max(score, d.score(&both))
		}
		if !more {
			return score, judged, nil
		}
		before, now = now, counts{}
	}
}

func (d *Detector) score(c *counts) float64 {
	z := d.bias
	for i, v := range c.features() {
		z += d.weights[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// Example returns the features of a whole text, for training.
func Example(table []byte, text string) Features {
	r := reader{text: text, table: table}
	var all counts
	for {
		var c counts
		more := r.block(&c)
		all.add(&c)
		if !more {
			return all.features()
		}
	}
}
