package check_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// A forbidden word in any spelling is found by each check that searches words. Source: row 13 of the
// reported failures of guardrails.
func TestTextChecks_FindDisguisedWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, parameters, before, after string }{
		{"default.contains", `{"words":["secret"],"operator":"none"}`, "my ", " text"},
		{"default.endsWith", `{"suffix":"secret","not":true}`, "my ", ""},
		{"default.regexMatch", `{"rule":"\\bs[aeiou]cret\\b","not":true}`, "my ", " text"},
		{"default.regexReplace", `{"rule":"secret","failOnDetection":true}`, "my ", " text"},
		{"default.regexReplace", `{"rule":"/SECRET/gi","failOnDetection":true}`, "my ", " text"},
		{"default.jsonKeys", `{"keys":["secret"],"operator":"none"}`, `{"`, `":1}`},
	} {
		for _, spelling := range append([]string{"secret"}, disguises...) {
			text := c.before + spelling + c.after
			got := run(t, nil, c.id, c.parameters, &check.Input{Phase: guardrail.Output, Texts: []string{text}})
			compare(t, &got, false, "", "")
			if edited := apply([]string{text}, got.Edits)[0]; len(got.Edits) > 0 && edited != c.before+"[REDACTED]"+c.after {
				t.Errorf("%s: %q became %q", c.id, text, edited)
			}
		}
	}
	for _, tag := range []string{"python", "pyth\u00adon", "ｐｙｔｈｏｎ", "рythоn"} {
		got := run(t, nil, "default.containsCode", `{"format":"Python","not":true}`, &check.Input{Texts: []string{"```" + tag + "\nprint(1)\n```"}})
		compare(t, &got, false, "", "")
	}
}

// Harmless text in any script passes and stays as it is.
func TestTextChecks_LeaveHarmlessTextUnchanged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Ein soft\u00adhyphen", "ｆｕｌｌ width", "Привет, мир", "ﬁne", "a\u200db 👩‍👩‍👧 ❤️", "e\u0301", "\xff\xfe"} {
		for _, c := range []struct{ id, parameters string }{
			{"default.contains", `{"words":["secret"],"operator":"none"}`}, {"default.regexMatch", `{"rule":"secret","not":true}`},
			{"default.regexReplace", `{"rule":"/secret/g","failOnDetection":true}`}, {"default.endsWith", `{"suffix":"secret","not":true}`},
		} {
			got := run(t, nil, c.id, c.parameters, &check.Input{Texts: []string{text}})
			compare(t, &got, true, "", "")
			if len(got.Edits) > 0 || got.Body != nil {
				t.Errorf("%s changes %q", c.id, text)
			}
		}
	}
}

// Checks give the same results whether or not they share the forms of the texts.
func TestShare_ChangesNoResult(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{nil, {""}, {"my secret"}, {"a", "s\u200becret"}, {"ѕесrеt", "secret"}} {
		for _, c := range []struct{ id, parameters string }{
			{"default.contains", `{"words":["secret"],"operator":"any"}`}, {"default.regexMatch", `{"rule":"^my|a\\nsecret"}`}, {"default.regexReplace", `{"rule":"/secret/g"}`},
		} {
			r := open(t, c.id, c.parameters, nil)
			alone, shared := &check.Input{Texts: texts}, &check.Input{Texts: texts}
			shared.Share()
			for range 2 {
				want, got := r.Run(context.Background(), alone), r.Run(context.Background(), shared)
				if want.Verdict != got.Verdict || strings.Join(apply(texts, want.Edits), "|") != strings.Join(apply(texts, got.Edits), "|") {
					t.Errorf("%s %q: %v, want %v", c.id, texts, got, want)
				}
			}
		}
	}
}
