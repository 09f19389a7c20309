package main

import (
	"fmt"
	"math"

	"sluice/internal/gateway/guardrails/classify/linear"
)

// Settings of the training.
const (
	rounds       = 60
	rate         = 0.1  // of AdaGrad
	decay        = 2e-4 // pull of weights of concepts and pairs to zero, per example
	hashedDecay  = 2e-5 // the same, of hashed words, whose values are small
	folds        = 5    // of the cross-validation
	block        = 8    // lines that stay in one fold: the variants of a sentence stand together
	lowestFound  = 0.35 // range of thresholds
	highestFound = 0.9
)

// weights are those of one category.
type weights struct {
	values []float32
	bias   float64
}

// score returns the likelihood of an example, with the hashed words or without them.
func (w *weights) score(e *linear.Example, hashed bool) float64 {
	z := w.bias
	for k, i := range e.Index {
		if hashed || !linear.IsHashed(i) {
			z += float64(w.values[i] * e.Value[k])
		}
	}
	return linear.Likelihood(z)
}

// all selects every example for training.
func all(int) bool { return true }

// fit trains logistic regression with AdaGrad on the examples that use selects. It visits them in a fixed
// order that mixes the file: a step that has no common factor with their number. Two of three rounds leave out
// the hashed words, so that the concepts carry what they can: the words of other texts are not in the training.
func fit(examples []linear.Example, labels []bool, use func(int) bool) *weights {
	w := &weights{values: make([]float32, linear.Features)}
	squares := make([]float64, linear.Features+1)
	n := len(examples)
	stride := coprime(n)
	for round := range rounds {
		for k, i := 0, 0; k < n; k, i = k+1, (i+stride)%n {
			if use(i) {
				w.step(&examples[i], labels[i], squares, round%3 == 0)
			}
		}
	}
	return w
}

// step moves the weights towards the label of one example.
func (w *weights) step(e *linear.Example, label bool, squares []float64, hashed bool) {
	gradient := w.score(e, hashed)
	if label {
		gradient--
	}
	for k, i := range e.Index {
		pull := decay
		if linear.IsHashed(i) {
			if !hashed {
				continue
			}
			pull = hashedDecay
		}
		g := gradient*float64(e.Value[k]) + pull*float64(w.values[i])
		squares[i] += g * g
		w.values[i] -= float32(rate * g / (math.Sqrt(squares[i]) + 1e-3))
	}
	last := len(squares) - 1
	squares[last] += gradient * gradient
	w.bias -= rate * gradient / (math.Sqrt(squares[last]) + 1e-3)
}

// coprime returns a step through n positions that reaches each.
func coprime(n int) int {
	for s := n*5/8 + 1; ; s++ {
		a, b := s, n
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return s
		}
	}
}

// crossValidate prints precision and recall on texts that were left out, and returns the threshold that does
// best there, with precision counting twice as much as recall.
func crossValidate(name string, examples []linear.Example, labels []bool) float64 {
	scores := make([]float64, len(examples))
	for fold := range folds {
		w := fit(examples, labels, func(i int) bool { return i/block%folds != fold })
		for i := range examples {
			if i/block%folds == fold {
				scores[i] = w.score(&examples[i], true)
			}
		}
	}
	best, at := -1.0, lowestFound
	for t := lowestFound; t <= highestFound; t += 0.05 {
		if p, r := measure(scores, labels, t); 1.25*p*r/(0.25*p+r+1e-9) > best {
			best, at = 1.25*p*r/(0.25*p+r+1e-9), t
		}
	}
	p, r := measure(scores, labels, at)
	fmt.Printf("%-36s threshold %.2f, cross-validation precision %.3f, recall %.3f\n", name, at, p, r)
	return at
}

// measure returns precision and recall for a threshold.
func measure(scores []float64, labels []bool, threshold float64) (precision, recall float64) {
	var found, right, total float64
	for i, s := range scores {
		if labels[i] {
			total++
		}
		if s >= threshold {
			found++
			if labels[i] {
				right++
			}
		}
	}
	return right / max(found, 1), right / max(total, 1)
}
