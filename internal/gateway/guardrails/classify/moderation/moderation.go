// Package moderation finds hateful, harassing, violent and sexual text and text about self-harm, in English,
// German and Spanish. Nine categories have a linear model; two are rules on top of it. Texts in other
// languages, pictures of meaning without any of the words, and irony are beyond it: FIGURES.md in the folder
// above has its precision and recall. Start reading at Judge.
package moderation

import (
	"context"
	_ "embed"
	"slices"
	"sync"

	"sluice/internal/gateway/guardrails/classify/linear"
	"sluice/internal/gateway/guardrails/textfold"
)

// The categories. Source: contract/dataplane.md 5.7.
const (
	Hate                 = "hate"
	HateThreatening      = "hate/threatening"
	Harassment           = "harassment"
	HarassmentThreat     = "harassment/threatening"
	SelfHarm             = "self-harm"
	SelfHarmIntent       = "self-harm/intent"
	SelfHarmInstructions = "self-harm/instructions"
	Sexual               = "sexual"
	SexualMinors         = "sexual/minors"
	Violence             = "violence"
	ViolenceGraphic      = "violence/graphic"
)

// modelled are the categories that have weights, in the order of the model file.
var modelled = []string{Hate, HateThreatening, Harassment, HarassmentThreat, SelfHarm, SelfHarmIntent, Sexual, Violence, ViolenceGraphic}

// Categories returns the categories that are trained. The caller owns the slice.
func Categories() []string { return slices.Clone(modelled) }

// All returns all categories. The caller owns the slice.
func All() []string { return append(Categories(), SelfHarmInstructions, SexualMinors) }

// rule finds a category where another one is found together with a concept in the same window.
type rule struct {
	category string
	with     string // category of the model
	concept  string // of the lexicon
}

var rules = []rule{
	{SexualMinors, Sexual, "age"},
	{SelfHarmInstructions, SelfHarm, "method"},
}

// broader maps categories to those that they are a part of.
var broader = map[string]string{
	HateThreatening: Hate, HarassmentThreat: Harassment, SelfHarmIntent: SelfHarm, ViolenceGraphic: Violence,
}

//go:embed lexicon.tsv
var lexicon []byte

//go:embed model.bin
var weights []byte

// Moderator judges texts. It is immutable and safe for concurrent use.
type Moderator struct {
	scorer   *linear.Scorer
	position map[string]int // of modelled categories in the scores
	concepts []int          // of rules
}

// Load returns the moderator of the program. The first call takes some milliseconds.
var Load = sync.OnceValues(func() (*Moderator, error) {
	lex, err := linear.ReadLexicon(lexicon)
	if err != nil {
		return nil, err
	}
	model, err := linear.Decode(modelled, weights)
	if err != nil {
		return nil, err
	}
	return New(&linear.Scorer{Lexicon: lex, Model: model}), nil
})

// New returns a moderator with a scorer of the categories of Categories, for tests of the rules with other
// words. The lexicon has the concepts "age" and "method"; the model has all of Categories.
func New(s *linear.Scorer) *Moderator {
	m := &Moderator{scorer: s, position: make(map[string]int)}
	for i, category := range s.Model.Categories {
		m.position[category] = i
	}
	for _, r := range rules {
		m.concepts = append(m.concepts, s.Lexicon.Index(r.concept))
	}
	return m
}

// Threshold returns the score from which a category counts as found.
func (m *Moderator) Threshold(category string) float64 {
	for _, r := range rules {
		if r.category == category {
			category = r.with
		}
	}
	return m.scorer.Model.Thresholds[m.position[category]]
}

// Judge returns the score of each category, from 0 to 1: the worst of any sentence, or of two that follow
// each other. A finding of a narrow category is one of the broad category, too. Judge reads the text as it is, and
// folded if that differs. The error is that of ctx.
func (m *Moderator) Judge(ctx context.Context, text string) (map[string]float64, error) {
	scores := make(map[string]float64, len(modelled)+len(rules))
	for _, category := range All() {
		scores[category] = 0
	}
	if err := m.add(ctx, text, scores); err != nil {
		return nil, err
	}
	if folded := textfold.Fold(text); !folded.Same() {
		if err := m.add(ctx, folded.Folded, scores); err != nil {
			return nil, err
		}
	}
	m.raise(scores)
	return scores, nil
}

// add raises the scores to those of a text.
func (m *Moderator) add(ctx context.Context, text string, scores map[string]float64) error {
	worst, combined := linear.Lowest(len(m.position)), linear.Lowest(len(rules))
	err := m.scorer.Windows(ctx, text, func(w *linear.Window) {
		for i, logit := range w.Logits {
			worst[i] = max(worst[i], logit)
		}
		for i, r := range rules {
			if w.Has(m.concepts[i]) {
				combined[i] = max(combined[i], w.Logits[m.position[r.with]])
			}
		}
	})
	for category, i := range m.position {
		scores[category] = max(scores[category], linear.Likelihood(worst[i]))
	}
	for i, r := range rules {
		scores[r.category] = max(scores[r.category], linear.Likelihood(combined[i]))
	}
	return err
}

// raise makes a broad category found where a narrow one is: its score becomes at least its threshold.
func (m *Moderator) raise(scores map[string]float64) {
	for narrow, broad := range broader {
		if m.Found(scores, narrow) {
			scores[broad] = max(scores[broad], m.Threshold(broad))
		}
	}
}

// Found reports whether a category is found: its score reaches its threshold.
func (m *Moderator) Found(scores map[string]float64, category string) bool {
	return scores[category] >= m.Threshold(category)
}
