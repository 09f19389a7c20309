package gibberish_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/classify/gibberish"
)

func detector(t testing.TB) *gibberish.Detector {
	t.Helper()
	d, err := gibberish.Load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGibberishInsideOfALongTextIsFound(t *testing.T) {
	t.Parallel()
	d := detector(t)
	calm := strings.Repeat("The committee read the report and asked for a plan by May. ", 100)
	noise := strings.Repeat("sdkfj wqpoe zxmnb lkjasd qwrtp fghdk ", 6)
	for text, want := range map[string]bool{calm: false, calm + noise + calm: true, noise: true} {
		score, judged, err := d.Judge(context.Background(), text)
		if err != nil || !judged || score >= d.Threshold() != want {
			t.Errorf("%.20q…: %.2f %v %v, want %v", text, score, judged, err, want)
		}
	}
}

func TestTextsThatCannotBeJudged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ok", "???", "こんにちは、お元気ですか", "Где ближайшая аптека?", "8f14e45fceea167a5a36dedd4bea2543", "| --- | --- | --- |"} {
		if _, judged, err := detector(t).Judge(context.Background(), text); judged || err != nil {
			t.Errorf("%q is judged: %v", text, err)
		}
	}
}

func TestFilesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := gibberish.New(make([]byte, 10), nil); err == nil {
		t.Error("no error")
	}
}

func FuzzJudge(f *testing.F) {
	d := detector(f)
	for _, s := range []string{"", "\xff", "a\u0301", strings.Repeat("x", 300), "Đ Ł ß ſ ỳ", "a,b;c-d'e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if score, _, err := d.Judge(context.Background(), text); err != nil || !(score >= 0 && score <= 1) {
			t.Errorf("%v %v", score, err)
		}
	})
}
