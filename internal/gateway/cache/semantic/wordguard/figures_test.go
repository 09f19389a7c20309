package wordguard_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/semantic/pairstest"
	"sluice/internal/gateway/cache/semantic/wordguard"
	"sluice/internal/kernel/embedding"
)

func TestCompare_ServesNoTrapOfTheKnownPairs(t *testing.T) {
	t.Parallel()
	right := 0
	for _, p := range pairstest.Known(t).Pairs {
		result := wordguard.Compare(p.Stored, p.Current)
		switch {
		case result == wordguard.Equal && !p.Same:
			t.Errorf("%s: a response to %q is served for %q", p.Kind, p.Stored, p.Current)
		case result == wordguard.Equal:
			right++
		case p.Same:
			t.Logf("miss (%s): %q, %q", result, p.Stored, p.Current)
		}
	}
	if right < 22 {
		t.Errorf("%d pairs of one meaning are served, want at least 22", right)
	}
}

// TestFigures_ArePublished measures all pairs with the built-in embedding. With -v it prints the
// rows of FIGURES.md.
func TestFigures_ArePublished(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	known, unseen, fresh := pairstest.Known(t), pairstest.New(t), pairstest.Fresh(t)
	known.SetCosines(embedAll(known.Texts()))
	unseen.SetCosines(embedAll(unseen.Texts()))
	fresh.SetCosines(embedAll(fresh.Texts()))
	rows := slices.Concat(known.Rows(), unseen.Rows(), unseen.Language("en", "English").Rows(),
		unseen.Language("de", "German").Rows(), unseen.Language("es", "Spanish").Rows(), fresh.Rows())
	for _, row := range rows {
		t.Log(row)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("FIGURES.md lacks the row %q: the figures changed", row)
		}
	}
}

func embedAll(texts []string) (vectors [][]float32) {
	for _, text := range texts {
		v, _ := embedding.Load().Embed(text)
		vectors = append(vectors, v[:])
	}
	return vectors
}
