package linear

import (
	"context"
	"math"
	"math/bits"
	"sync"
)

// Scorer scores texts by a lexicon and a model. It is immutable and safe for concurrent use.
type Scorer struct {
	Lexicon *Lexicon
	Model   *Model
}

// Window is a part of a text: one sentence, or two that follow each other.
type Window struct {
	// Logits are the scores before Likelihood, one for each category of the model. They are valid only during
	// the call.
	Logits   []float64
	concepts uint64
}

// Has reports whether the window has a concept, by its position in the lexicon.
func (w *Window) Has(concept int) bool { return concept >= 0 && w.concepts&(1<<concept) != 0 }

// scratch is the memory of one run.
type scratch struct {
	split    splitter
	features [2]sentence // the sentence before, and the current one
	sums     [2][]int32  // of the hashed features of both, by category
	window   Window
	dense    []uint16 // concepts of the window, and pairs of them
	denseSum []int32
	hits     [2 * maxHits]uint8
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

// sentencesPerCheck is how many sentences are judged between two looks at the context.
const sentencesPerCheck = 64

// Windows scores each sentence of a text, and each two that follow each other, and calls visit for each
// window. It returns the error of ctx if that ends first. Time grows linearly with the text: about 20 µs
// a kilobyte.
func (s *Scorer) Windows(ctx context.Context, text string, visit func(*Window)) error {
	m, _ := pool.Get().(*scratch)
	defer m.release()
	m.prepare(text, len(s.Model.Categories))
	now, before := 0, 1
	for i := 0; ; i++ {
		if i%sentencesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		words, ok := m.split.next()
		if !ok {
			return nil
		}
		if len(words) < 2 {
			continue
		}
		now, before = before, now
		m.features[now].read(words, s.Lexicon)
		s.Model.sum(m.features[now].hashes, m.sums[now])
		s.score(m, now, -1)
		visit(&m.window)
		if m.features[before].n > 0 {
			s.score(m, before, now)
			visit(&m.window)
		}
	}
}

// prepare makes the scratch ready for a text.
func (m *scratch) prepare(text string, categories int) {
	m.split.text, m.split.at = text, 0
	m.features[0].n, m.features[1].n = 0, 0
	if cap(m.window.Logits) < categories {
		m.window.Logits = make([]float64, categories)
		m.sums[0], m.sums[1], m.denseSum = make([]int32, categories), make([]int32, categories), make([]int32, categories)
	}
	m.window.Logits = m.window.Logits[:categories]
	m.sums[0], m.sums[1], m.denseSum = m.sums[0][:categories], m.sums[1][:categories], m.denseSum[:categories]
}

// release returns the scratch to the pool, without the text.
func (m *scratch) release() {
	m.split.text = ""
	pool.Put(m)
}

// score scores a sentence, and the one after it unless second is -1.
func (s *Scorer) score(m *scratch, first, second int) {
	f := &m.features[first]
	concepts, hashed := f.concepts, len(f.hashes)
	hits := append(m.hits[:0], f.hits[:f.n]...)
	if second >= 0 {
		g := &m.features[second]
		concepts |= g.concepts
		hashed += len(g.hashes)
		hits = append(hits, g.hits[:g.n]...)
	}
	var set pairSet
	m.dense = set.add(hits, m.dense[:0])
	for rest := concepts; rest != 0; rest &= rest - 1 {
		m.dense = append(m.dense, uint16(bits.TrailingZeros64(rest)))
	}
	s.Model.sum(m.dense, m.denseSum)
	m.window.concepts = concepts
	root := 1 / math.Sqrt(float64(max(hashed, 1)))
	for c := range m.window.Logits {
		sum := m.sums[first][c]
		if second >= 0 {
			sum += m.sums[second][c]
		}
		m.window.Logits[c] = s.Model.Bias[c] + float64(sum)*s.Model.HashScale[c]*root + float64(m.denseSum[c])*s.Model.ConceptScale[c]
	}
}

// Likelihood converts a score from any number to the range from 0 to 1, and keeps the order.
func Likelihood(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// Lowest returns n logits that every other exceeds. Their likelihood is 0.
func Lowest(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Inf(-1)
	}
	return list
}

// Worst returns the highest likelihood of any window, by category.
func (s *Scorer) Worst(ctx context.Context, text string) ([]float64, error) {
	worst := Lowest(len(s.Model.Categories))
	err := s.Windows(ctx, text, func(w *Window) {
		for c, logit := range w.Logits {
			worst[c] = max(worst[c], logit)
		}
	})
	for c, logit := range worst {
		worst[c] = Likelihood(logit)
	}
	return worst, err
}

// Example has the features of a training text, as positions of weights and their values.
type Example struct {
	Index []uint16
	Value []float32
}

// Example returns the features of a text as one window.
func (s *Scorer) Example(text string) Example {
	split, all := splitter{text: text}, sentence{}
	var hits []uint8
	var hashes []uint16
	var concepts uint64
	for {
		words, ok := split.next()
		if !ok {
			break
		}
		all.read(words, s.Lexicon)
		hits = append(hits, all.hits[:all.n]...)
		hashes = append(hashes, all.hashes...)
		concepts |= all.concepts
	}
	var set pairSet
	var e Example
	for rest := concepts; rest != 0; rest &= rest - 1 {
		e.add(uint16(bits.TrailingZeros64(rest)), 1)
	}
	for _, p := range set.add(hits, nil) {
		e.add(p, 1)
	}
	root := float32(1 / math.Sqrt(float64(max(len(hashes), 1))))
	for _, h := range hashes {
		e.add(h, root)
	}
	return e
}

func (e *Example) add(i uint16, v float32) {
	e.Index, e.Value = append(e.Index, i), append(e.Value, v)
}

// IsHashed reports whether a feature is a hashed word or a part of one.
func IsHashed(feature uint16) bool { return feature >= firstHash }
