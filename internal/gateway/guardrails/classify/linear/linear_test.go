package linear_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/classify/linear"
)

// finder has a lexicon of two concepts, and a model that adds ten for the first before the second.
func finder(t testing.TB) *linear.Scorer {
	t.Helper()
	lex, err := linear.ReadLexicon([]byte("# words\nfirst\tred,dark red,rot*\nsecond\tblue sky\n"))
	if err != nil {
		t.Fatal(err)
	}
	weights := make([]float32, linear.Features)
	weights[linear.MaxConcepts+0*linear.MaxConcepts+1] = 10
	return &linear.Scorer{Lexicon: lex, Model: linear.Quantise([]string{"pair"}, []float64{0.5}, []float64{-5}, [][]float32{weights})}
}

func TestWordsAndPhrasesOfTheLexicon(t *testing.T) {
	t.Parallel()
	s := finder(t)
	for text, want := range map[string][2]bool{
		"red":                                    {true, false},
		"a reddish thing":                        {false, false},
		"Rotterdam begins with a rot":            {true, false},
		"carrot":                                 {false, false},
		"a blue sky":                             {false, true},
		"blue and sky":                           {false, false},
		"Blue-Sky, red!":                         {true, true},
		"blue\nsky":                              {false, true},
		"a long line about the colour blue\nsky": {false, false},
	} {
		var got [2]bool
		err := s.Windows(context.Background(), text, func(w *linear.Window) {
			got[0], got[1] = got[0] || w.Has(0), got[1] || w.Has(1)
		})
		if err != nil || got != want {
			t.Errorf("%q has the concepts %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestTheOrderOfConceptsCounts(t *testing.T) {
	t.Parallel()
	s := finder(t)
	for text, want := range map[string]bool{
		"red under a blue sky": true, "a blue sky over red": false, "Red. A blue sky.": true, "Red is a colour of the evening. Grey is a colour of the morning. A blue sky is rare.": false,
	} {
		score, err := s.Worst(context.Background(), text)
		if err != nil || score[0] > 0.5 != want {
			t.Errorf("%q: %v %v", text, score, err)
		}
	}
}

func TestModelSurvivesItsBinaryForm(t *testing.T) {
	t.Parallel()
	s := finder(t)
	again, err := linear.Decode(s.Model.Categories, s.Model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	copied := &linear.Scorer{Lexicon: s.Lexicon, Model: again}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`((red|blue sky|word|rot)[ .]){0,20}`).Draw(t, "text")
		a, _ := s.Worst(context.Background(), text)
		b, _ := copied.Worst(context.Background(), text)
		if math.Abs(a[0]-b[0]) > 1e-4 {
			t.Errorf("%q: %v and %v", text, a, b)
		}
	})
	if _, err := linear.Decode([]string{"a", "b"}, s.Model.Encode()); err == nil {
		t.Error("a model of one category decodes as one of two")
	}
}

func TestLexiconErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"no tab": "line 1", "a\tb\nc\t日本": "line 2", "a\tb,,c": "line 1"} {
		if _, err := linear.ReadLexicon([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzWindows(f *testing.F) {
	s := finder(f)
	for _, text := range []string{"", "red. blue sky", "a b c d e f g", "\x80\xff.", "r e d", strings.Repeat("red", 1000), "x@y $z 1a 4"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Worst(context.Background(), text); err != nil {
			t.Error(err)
		}
		s.Example(text)
	})
}
