// Package injection finds attempts to replace the instructions of a language model: by users who write to it,
// and by documents that it reads. It judges English, German and Spanish. It does not find attacks without
// words for it, such as instructions in an encoded text or inside a story. Start reading at Judge.
package injection

import (
	"context"
	_ "embed"
	"sync"

	"sluice/internal/gateway/guardrails/classify/linear"
	"sluice/internal/gateway/guardrails/textfold"
)

// Categories returns the categories of the model: one.
func Categories() []string { return []string{"injection"} }

//go:embed lexicon.tsv
var lexicon []byte

//go:embed model.bin
var weights []byte

// Detector judges texts. It is immutable and safe for concurrent use.
type Detector struct{ scorer *linear.Scorer }

// Load returns the detector of the program. The first call takes some milliseconds.
var Load = sync.OnceValues(func() (*Detector, error) {
	lex, err := linear.ReadLexicon(lexicon)
	if err != nil {
		return nil, err
	}
	model, err := linear.Decode(Categories(), weights)
	if err != nil {
		return nil, err
	}
	return &Detector{&linear.Scorer{Lexicon: lex, Model: model}}, nil
})

// Threshold returns the score that separates attacks from other texts best.
func (d *Detector) Threshold() float64 { return d.scorer.Model.Thresholds[0] }

// Judge returns the likelihood of an attack, from 0 to 1: the highest of any sentence, or of two that follow
// each other. It reads the text as it is, and folded if that differs. The error is that of ctx.
func (d *Detector) Judge(ctx context.Context, text string) (float64, error) {
	worst, err := d.scorer.Worst(ctx, text)
	if err != nil {
		return 0, err
	}
	if folded := textfold.Fold(text); !folded.Same() {
		again, err := d.scorer.Worst(ctx, folded.Folded)
		if err != nil {
			return 0, err
		}
		worst[0] = max(worst[0], again[0])
	}
	return worst[0], nil
}
