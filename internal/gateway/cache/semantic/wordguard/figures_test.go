package wordguard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/semantic/wordguard"
)

// thresholds of the published figures.
var thresholds = []float32{0.95, 0.90, 0.85, 0.80, 0.70, 0.60}

func TestCompare_ServesNoTrapOfTheKnownPairs(t *testing.T) {
	t.Parallel()
	right := 0
	for _, p := range readPairs(t, "testdata/pairs.tsv") {
		result := wordguard.Compare(p.stored, p.current)
		switch {
		case result == wordguard.Equal && !p.same:
			t.Errorf("%s: a response to %q is served for %q", p.kind, p.stored, p.current)
		case result == wordguard.Equal:
			right++
		case p.same:
			t.Logf("miss (%s): %q, %q", result, p.stored, p.current)
		}
	}
	if right < 22 {
		t.Errorf("%d pairs of one meaning are served, want at least 22", right)
	}
}

// TestFigures_ArePublished measures all pairs. With -v it prints the rows of FIGURES.md.
func TestFigures_ArePublished(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../FIGURES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range measuredRows(t) {
		t.Log(row)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("FIGURES.md lacks the row %q: the figures changed", row)
		}
	}
}

// measuredRows returns the rows of the tables.
func measuredRows(t *testing.T) (rows []string) {
	t.Helper()
	known, unseen := readPairs(t, "testdata/pairs.tsv"), readPairs(t, "testdata/newpairs.tsv")
	for _, set := range []struct {
		name  string
		pairs []pair
	}{
		{"known", known}, {"new", unseen},
		{"new, English", inLanguage(unseen, "en")}, {"new, German", inLanguage(unseen, "de")}, {"new, Spanish", inLanguage(unseen, "es")},
	} {
		for _, threshold := range thresholds {
			right, falseHits := count(set.pairs, threshold, false)
			guardedRight, guardedFalse := count(set.pairs, threshold, true)
			same, traps := count(set.pairs, -1, false)
			rows = append(rows, fmt.Sprintf("| %s | %.2f | %d of %d | %d of %d | %d | %d |",
				set.name, threshold, right, same, falseHits, traps, guardedRight, guardedFalse))
		}
	}
	return rows
}

func inLanguage(pairs []pair, code string) (out []pair) {
	for _, p := range pairs {
		if strings.HasSuffix(p.kind, "-"+code) {
			out = append(out, p)
		}
	}
	return out
}
