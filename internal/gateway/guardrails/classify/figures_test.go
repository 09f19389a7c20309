package classify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/classify/corpus"
	"sluice/internal/gateway/guardrails/classify/gibberish"
	"sluice/internal/gateway/guardrails/classify/injection"
	"sluice/internal/gateway/guardrails/classify/moderation"
)

// measured is a category with the test texts that judge it: those of its own file, and the texts without
// labels of the other files.
type measured struct {
	category string
	file     string
	finds    func(t testing.TB, text string) bool
}

func moderated(category, file string) measured {
	return measured{category, file, func(t testing.TB, text string) bool {
		m, err := moderation.Load()
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Judge(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		return m.Found(scores, category)
	}}
}

func injected(t testing.TB, text string) bool {
	d, err := injection.Load()
	if err != nil {
		t.Fatal(err)
	}
	score, err := d.Judge(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return score >= d.Threshold()
}

func isGibberish(t testing.TB, text string) bool {
	d, err := gibberish.Load()
	if err != nil {
		t.Fatal(err)
	}
	score, judged, err := d.Judge(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return judged && score >= d.Threshold()
}

var measures = []measured{
	moderated("hate", "hate"), moderated("hate/threatening", "hate"),
	moderated("harassment", "harassment"), moderated("harassment/threatening", "harassment"),
	moderated("self-harm", "selfharm"), moderated("self-harm/intent", "selfharm"),
	moderated("sexual", "sexual"), moderated("violence", "violence"), moderated("violence/graphic", "violence"),
	{"injection", "injection", injected},
	{"gibberish", "gibberish", isGibberish},
}

// tally counts the outcomes of a category in one language.
type tally struct{ right, false, missed int }

func (c tally) precision() float64 { return float64(c.right) / float64(max(c.right+c.false, 1)) }
func (c tally) recall() float64    { return float64(c.right) / float64(max(c.right+c.missed, 1)) }

// measure returns the outcomes by language, and of "all".
func (m *measured) measure(t testing.TB, texts map[string][]corpus.Text) map[string]tally {
	out := map[string]tally{}
	for file, list := range texts {
		for i := range list {
			if file != m.file && len(list[i].Labels) > 0 {
				continue
			}
			found, labelled := m.finds(t, list[i].Text), list[i].Is(m.category)
			if os.Getenv("SHOW") == m.category && found != labelled {
				fmt.Println(found, list[i].Language, list[i].Text)
			}
			for _, language := range []string{list[i].Language, "all"} {
				c := out[language]
				switch {
				case found && labelled:
					c.right++
				case found:
					c.false++
				case labelled:
					c.missed++
				}
				out[language] = c
			}
		}
	}
	return out
}

// testTexts returns the texts of testdata by the name of their file.
func testTexts(t testing.TB) map[string][]corpus.Text {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatal("no test texts", err)
	}
	out := map[string][]corpus.Text{}
	for _, f := range files {
		list, err := corpus.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".tsv")] = list
	}
	return out
}

func TestFigures(t *testing.T) {
	texts := testTexts(t)
	for _, m := range measures {
		got := m.measure(t, texts)
		for _, l := range []string{"all", "en", "de", "es"} {
			t.Logf("%-24s %-4s precision %.3f recall %.3f  %v", m.category, l, got[l].precision(), got[l].recall(), got[l])
		}
	}
}
