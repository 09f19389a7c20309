package moderation_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/classify/linear"
	"sluice/internal/gateway/guardrails/classify/moderation"
)

// standIns has neutral words for the concepts of the rules: no text of these categories is written.
const standIns = "topic\tzorb\nharm\tquix\nage\tblip\nmethod\tflim\nthreat\tgrom\n"

// moderator finds "sexual" where a text has zorb, "self-harm" where it has quix, and "hate/threatening" where it
// has grom.
func moderator(t testing.TB) *moderation.Moderator {
	t.Helper()
	lex, err := linear.ReadLexicon([]byte(standIns))
	if err != nil {
		t.Fatal(err)
	}
	categories := moderation.Categories()
	n := len(categories)
	thresholds, bias, weights := make([]float64, n), make([]float64, n), make([][]float32, n)
	for i, c := range categories {
		thresholds[i], bias[i], weights[i] = 0.5, -3, make([]float32, linear.Features)
		switch c {
		case moderation.Sexual:
			weights[i][lex.Index("topic")] = 6
		case moderation.HateThreatening:
			weights[i][lex.Index("threat")] = 6
		case moderation.SelfHarm:
			weights[i][lex.Index("harm")] = 6
		}
	}
	return moderation.New(&linear.Scorer{Lexicon: lex, Model: linear.Quantise(categories, thresholds, bias, weights)})
}

func TestRulesNeedBothParts(t *testing.T) {
	t.Parallel()
	m := moderator(t)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"a zorb on its own", []string{moderation.Sexual}},
		{"a blip on its own", nil},
		{"a zorb with a blip", []string{moderation.Sexual, moderation.SexualMinors}},
		{"A zorb. Then a blip.", []string{moderation.Sexual, moderation.SexualMinors}},
		{"A blip. Then a zorb.", []string{moderation.Sexual, moderation.SexualMinors}},
		{"A zorb by the lake in the evening. The lake is quiet at this hour. A house with a blip.", []string{moderation.Sexual}},
		{"a zorb with a flim", []string{moderation.Sexual}},
		{"a quix with a blip", []string{moderation.SelfHarm}},
		{"a quix with a flim", []string{moderation.SelfHarm, moderation.SelfHarmInstructions}},
		{"a flim on its own", nil},
		{"a grom is narrow and so broad", []string{moderation.Hate, moderation.HateThreatening}},
		{"A\nzorb\nwith\na\nblip", []string{moderation.Sexual, moderation.SexualMinors}},
	} {
		scores, err := m.Judge(context.Background(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, category := range moderation.All() {
			if m.Found(scores, category) {
				got = append(got, category)
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestDisguisedWordsAreFound(t *testing.T) {
	t.Parallel()
	m := moderator(t)
	for _, text := range []string{
		"a ZORB", "a zörb", "a z0rb", "one z o r b", "one z.o.r.b", "a zo\u00adrb", "a z\u200borb", "a zоrb with a Cyrillic o", "a ｚｏｒｂ", "a 𝐳𝐨𝐫𝐛",
	} {
		scores, err := m.Judge(context.Background(), text)
		if err != nil || !m.Found(scores, moderation.Sexual) {
			t.Errorf("%q is not found: %.2f %v", text, scores[moderation.Sexual], err)
		}
	}
}

func TestTheWorstSentenceOfALongTextCounts(t *testing.T) {
	t.Parallel()
	m := moderator(t)
	calm := strings.Repeat("The lake is quiet and the house is old. ", 5000)
	for _, text := range []string{calm + "A zorb. " + calm, "A zorb. " + calm, calm + "A zorb"} {
		scores, err := m.Judge(context.Background(), text)
		if err != nil || !m.Found(scores, moderation.Sexual) {
			t.Errorf("the sentence is not found: %v", err)
		}
	}
}

func TestJudgeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := moderator(t).Judge(ctx, "a zorb"); err == nil {
		t.Error("no error after the end of the context")
	}
}

func FuzzJudge(f *testing.F) {
	m, err := moderation.Load()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", " ", "\xff\xfe", "a b c d e", "'\"?!.", "日本語のテキスト", "k$ll @ 4 5 6", strings.Repeat("é", 100), "x.\n\n.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scores, err := m.Judge(context.Background(), text)
		if err != nil || len(scores) != len(moderation.All()) {
			t.Fatalf("%v %v", scores, err)
		}
		for category, score := range scores {
			if !(score >= 0 && score <= 1) {
				t.Errorf("%s has the score %v", category, score)
			}
		}
	})
}
