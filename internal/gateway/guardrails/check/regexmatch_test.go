package check_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/check"
)

func TestRegexMatch_ReportsTheFirstMatch(t *testing.T) {
	t.Parallel()
	runCases(t, "default.regexMatch", []verdictCase{
		{"found", `{"rule":"(?P<year>[0-9]{4})-([0-9]{2})(x)?"}`, []string{"😀 on 2026-11"}, true, "",
			`{"matchDetails":{"captures":["2026","11",null],"groups":{"year":"2026"},"index":6,"matchedText":"2026-11"}}`},
		{"not found", `{"rule":"^a+$"}`, []string{"aab"}, false, "", `{"matchDetails":null,"textExcerpt":"aab"}`},
		{"found with not", `{"rule":"a","not":true}`, []string{"aab"}, false, "", `{"not":true}`},
		{"not found with not", `{"rule":"c","not":true}`, []string{"aab"}, true, "", ""},
		{"no text is an error", `{"rule":"a"}`, nil, false, "the text is empty", ""},
	})
	runRefusals(t, "default.regexMatch", refusals{
		`{}`:                ".rule: required",
		`{"rule":"(?=a)"}`:  ".rule: RE2",
		`{"rule":"(a)\\1"}`: ".rule: RE2",
		`{"rule":"["}`:      ".rule: RE2",
	})
}

func TestWindow_FollowsTheLongestMatch(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]int{
		"abc": 6, "a|bcd": 6, "a{2,5}": 10, "[0-9]{4}-?[0-9]{2}": 14, `\bab\b`: 6, "(?m)^ab$": 6, "(?i)straße": 12, "(a|b)?c": 4,
		"a*": 0, "a+b": 0, "^ab": 0, "ab$": 0, `\Aab`: 0, `ab\z`: 0, "a{2,}": 0, "(a{100}){10}b{25}": 0, "(a{100}){10}b{24}": 2048,
	} {
		r := open(t, "default.regexMatch", `{"not":true,"rule":`+quote(rule)+`}`, nil)
		if got := window(r); got != want {
			t.Errorf("%s: window %d, want %d", rule, got, want)
		}
		if r := open(t, "default.regexMatch", `{"rule":`+quote(rule)+`}`, nil); window(r) != 0 {
			t.Errorf("%s: a pattern that must be found has window %d, want 0", rule, window(r))
		}
		if got := window(open(t, "default.regexReplace", `{"rule":`+quote(rule)+`}`, nil)); got != want {
			t.Errorf("%s: window of the replacement %d, want %d", rule, got, want)
		}
	}
	if got := window(open(t, "default.contains", `{"words":["ab","größer"],"operator":"none"}`, nil)); got != 12 {
		t.Errorf("window of contains %d, want 12", got)
	}
	if got := window(open(t, "default.contains", `{"words":["ab"],"operator":"any"}`, nil)); got != 0 {
		t.Errorf("window of contains with any %d, want 0", got)
	}
	if got := window(open(t, "default.regexReplace", `{"rule":"/ab/y"}`, nil)); got != 0 {
		t.Errorf("window of a sticky pattern %d, want 0", got)
	}
}

func window(r check.Runner) int {
	w, ok := r.(check.Windowed)
	if !ok {
		return 0
	}
	return w.Window()
}

// A check with a window finds what is planted in a text, wherever the text is split.
func TestWindow_FindsPlantedMatchesAtEverySplit(t *testing.T) {
	t.Parallel()
	secrets := append([]string{"secret", "2026-11-28"}, disguises...)
	for _, c := range []struct{ id, parameters string }{
		{"default.contains", `{"words":["secret","2026-11-28"],"operator":"none"}`},
		{"default.regexMatch", `{"rule":"secret|\\b[0-9]{4}-[0-9]{2}-[0-9]{2}\\b","not":true}`},
		{"default.regexReplace", `{"rule":"/secret|\\b[0-9]{4}-[0-9]{2}-[0-9]{2}\\b/g","failOnDetection":true}`},
	} {
		r := open(t, c.id, c.parameters, nil)
		rapid.Check(t, func(t *rapid.T) {
			before := rapid.StringMatching(`([a-z ]|é|😀){0,40} `).Draw(t, "before")
			after := rapid.StringMatching(` ([a-z ]|é|😀){0,40}`).Draw(t, "after")
			text := []rune(before + rapid.SampledFrom(secrets).Draw(t, "secret") + after)
			for split := range len(text) + 1 {
				if !foundInWindows(r, text, split) {
					t.Fatalf("%s: nothing found in %q split at %d", c.id, string(text), split)
				}
			}
		})
	}
}

// foundInWindows judges the text around a place with one window on each side, and the two remaining
// parts with the same overlap.
func foundInWindows(r check.Runner, text []rune, split int) bool {
	n := window(r)
	for _, part := range [][]rune{text[:min(split+n, len(text))], text[max(split-n, 0):min(split+n, len(text))], text[max(split-n, 0):]} {
		if len(part) > 0 && !r.Run(context.Background(), &check.Input{Texts: []string{string(part)}}).Verdict {
			return true
		}
	}
	return false
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
