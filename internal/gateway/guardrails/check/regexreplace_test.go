package check_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

func TestRegexReplace_ReplacesMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, parameters string
		texts, want      []string
		verdict          bool
	}{
		{"a plain rule replaces the first match of each text", `{"rule":"[0-9]+"}`, []string{"1 and 2", "no", "3"}, []string{"[REDACTED] and 2", "no", "[REDACTED]"}, true},
		{"slashes without g too", `{"rule":"/[0-9]+/"}`, []string{"1 and 2"}, []string{"[REDACTED] and 2"}, true},
		{"flag g replaces all", `{"rule":"/[0-9]+/g","redactText":"#"}`, []string{"1 and 2"}, []string{"# and #"}, true},
		{"flag i ignores case", `{"rule":"/abc/gi","redactText":"#"}`, []string{"ABC abc"}, []string{"# #"}, true},
		{"flag m anchors lines", `{"rule":"/^a/gm","redactText":"#"}`, []string{"a\na"}, []string{"#\n#"}, true},
		{"flag s matches line ends", `{"rule":"/a.b/s","redactText":"#"}`, []string{"a\nb"}, []string{"#"}, true},
		{"flags u and d change nothing", `{"rule":"/a/ud","redactText":"#"}`, []string{"ba"}, []string{"b#"}, true},
		{"flag y matches at the start only", `{"rule":"/a/gy","redactText":"#"}`, []string{"aaba", "ba"}, []string{"##ba", "ba"}, true},
		{"slashes inside a pattern", `{"rule":"/a/b/g","redactText":"#"}`, []string{"a/b"}, []string{"#"}, true},
		{"unknown flags make it a plain rule", `{"rule":"/a/x","redactText":"#"}`, []string{"a /a/x"}, []string{"a #"}, true},
		{"references to groups", `{"rule":"/(\\w+)@(?P<host>\\w+)/g","redactText":"$2:$1:$<host>:$&:$$:$3:$01"}`, []string{"a@b"}, []string{"b:a:b:a@b:$:$3:a"}, true},
		{"references to the text around", "{\"rule\":\"b\",\"redactText\":\"($`|$')\"}", []string{"abc"}, []string{"a(a|c)c"}, true},
		{"a group that does not take part", `{"rule":"/a(x)?/g","redactText":"[$1]"}`, []string{"ab"}, []string{"[]b"}, true},
		{"a dollar sign at the end", `{"rule":"a","redactText":"5$"}`, []string{"a"}, []string{"5$"}, true},
		{"matches without characters", `{"rule":"/x*/g","redactText":"-"}`, []string{"aé"}, []string{"-a-é-"}, true},
		{"failOnDetection denies", `{"rule":"a","failOnDetection":true}`, []string{"a"}, []string{"[REDACTED]"}, false},
		{"failOnDetection passes other texts", `{"rule":"a","failOnDetection":true}`, []string{"b"}, []string{"b"}, true},
		{"soft hyphens", `{"rule":"/secret/g"}`, []string{"a se\u00adcr\u00adet, a secret"}, []string{"a [REDACTED], a [REDACTED]"}, true},
		{"look-alikes in groups", `{"rule":"/(sec)ret/g","redactText":"$1"}`, []string{"ѕесrеt"}, []string{"sec"}, true},
		{"without g the original counts first", `{"rule":"secret"}`, []string{"ｓｅｃｒｅｔ secret"}, []string{"ｓｅｃｒｅｔ [REDACTED]"}, true},
		{"a ligature goes as a whole", `{"rule":"/i/g","redactText":"#"}`, []string{"ﬁr"}, []string{"#r"}, true},
	} {
		for _, phase := range []guardrail.Phase{guardrail.Input, guardrail.Output} {
			t.Run(c.name+" on "+string(phase), func(t *testing.T) {
				t.Parallel()
				got := open(t, "default.regexReplace", c.parameters, nil).Run(context.Background(), &check.Input{Phase: phase, Texts: c.texts})
				compare(t, &got, c.verdict, "", "")
				if texts := apply(c.texts, got.Edits); !slices.Equal(texts, c.want) {
					t.Errorf("texts %q, want %q", texts, c.want)
				}
			})
		}
	}
	runRefusals(t, "default.regexReplace", refusals{
		`{}`:                                 ".rule: required",
		`{"rule":"/(/g"}`:                    ".rule: RE2",
		`{"rule":"a","redactText":""}`:       ".redactText: 1 to 1024",
		`{"rule":"a","failOnDetection":"x"}`: ".failOnDetection: true or false",
	})
}

func TestRegexReplace_IsRedactor(t *testing.T) {
	t.Parallel()
	r, ok := open(t, "default.regexReplace", `{"rule":"a"}`, nil).(check.Redactor)
	if !ok || !r.Redacts() {
		t.Error("regexReplace does not redact")
	}
}

// Many matches, and replacements that repeat the text, do not need unbounded memory, and nothing that
// matches remains.
func TestRegexReplace_BoundsEdits(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", 200_000)
	for _, parameters := range []string{`{"rule":"/word/g","redactText":"#"}`, "{\"rule\":\"/\\\\bword/g\",\"redactText\":\"$`\"}"} {
		got := open(t, "default.regexReplace", parameters, nil).Run(context.Background(), &check.Input{Texts: []string{text}})
		if n := len(got.Edits); n == 0 || n > 100_001 {
			t.Fatalf("%s: %d edits, want at most 100001", parameters, n)
		}
		if last := got.Edits[len(got.Edits)-1]; last.End != len(text) {
			t.Errorf("%s: the last edit ends at %d, want %d", parameters, last.End, len(text))
		}
	}
}

func TestRegexReplace_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("time is over"))
	got := open(t, "default.regexReplace", `{"rule":"/a.*b|a/g"}`, nil).Run(ctx, &check.Input{Texts: []string{strings.Repeat("a", 1000)}})
	compare(t, &got, false, "not searched in time", "")
}

// Edits are sorted, do not overlap, lie on characters, and leave a text without matches unchanged.
func TestRegexReplace_EditsAreDisjoint(t *testing.T) {
	t.Parallel()
	r := open(t, "default.regexReplace", `{"rule":"/se?|fi|[a-c]{1,2}|x*$/g","redactText":"#"}`, nil)
	none := open(t, "default.regexReplace", `{"rule":"/Q/g"}`, nil)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z]|\x{00ad}|\x{200b}|ѕ|е|ﬁ|ｂ|é|e\x{0301}|😀){0,30}`).Draw(t, "text")
		end := 0
		for _, e := range r.Run(context.Background(), &check.Input{Texts: []string{text}}).Edits {
			if e.Start < end || e.End < e.Start || e.End > len(text) || strings.ToValidUTF8(text[e.Start:e.End], "?") != text[e.Start:e.End] {
				t.Fatalf("%q: edit [%d,%d) after %d", text, e.Start, e.End, end)
			}
			end = e.End
		}
		if got := none.Run(context.Background(), &check.Input{Texts: []string{text}}); len(got.Edits) > 0 {
			t.Fatalf("%q: edits %v without a match", text, got.Edits)
		}
	})
}
