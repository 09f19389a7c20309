package pii_test

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/check"
)

// marked is a value in a text.
type marked struct {
	category   string
	start, end int
}

// The held-out texts decide about nothing but the figures: the detector is not changed because of them.
func TestHeldOut_FiguresArePublished(t *testing.T) {
	t.Parallel()
	scores := make(map[string]*score) // by category and language
	f, err := os.Open("testdata/heldout.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Scan() // names of the columns
	texts := 0
	for lines.Scan() {
		language, text, _ := strings.Cut(lines.Text(), "\t")
		plain, values := unmark(strings.ReplaceAll(text, `\n`, "\n"))
		countHeldOut(t, scores, language, plain, values)
		texts++
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d texts, a third in each language.\n\n| Category | Language | Values | Precision %% | Recall %% |\n|---|---|---|---|---|\n", texts)
	for _, category := range sortedCategories() {
		for _, language := range []string{"en", "de", "es"} {
			if s := scores[category+language]; s != nil {
				fmt.Fprintf(&table, "| %s | %s | %d | %.1f | %.1f |\n", category, language, s.right+s.missed, s.precision(), s.recall())
			}
		}
	}
	compareFigures(t, "held-out", table.String())
}

// countHeldOut adds the findings in a text to the scores.
func countHeldOut(t *testing.T, scores map[string]*score, language, text string, values []marked) {
	t.Helper()
	at := func(category string) *score {
		if scores[category+language] == nil {
			scores[category+language] = new(score)
		}
		return scores[category+language]
	}
	found := edits(t, all, text)
	for _, v := range values {
		same := slices.DeleteFunc(slices.Clone(found), func(e check.Edit) bool { return e.Kind != v.category })
		if covered(same, v.start, v.end) >= needed(v.category, v.end-v.start) {
			at(v.category).right++
		} else {
			at(v.category).missed++
			t.Logf("missed %s %q in %q", v.category, text[v.start:v.end], text)
		}
	}
	for _, e := range found {
		if !slices.ContainsFunc(values, func(v marked) bool { return v.category == e.Kind && e.Start < v.end && v.start < e.End }) {
			at(e.Kind).wrong++
			t.Logf("wrong %s %q in %q", e.Kind, text[e.Start:e.End], text)
		}
	}
}

var mark = regexp.MustCompile(`\[\[([A-Z_]+)\|(.*?)\]\]`)

// unmark returns a text without its marks, and the values.
func unmark(text string) (plain string, values []marked) {
	var b strings.Builder
	done := 0
	for _, at := range mark.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[done:at[0]])
		start := b.Len()
		b.WriteString(text[at[4]:at[5]])
		values = append(values, marked{text[at[2]:at[3]], start, b.Len()})
		done = at[1]
	}
	b.WriteString(text[done:])
	return b.String(), values
}
