package check_test

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/check"
)

// textChecks are the checks that read texts.
var textChecks = []struct {
	id, parameters string
	folds          bool // the check compares folded forms too
}{
	{"default.contains", `{"words":["xyz","aab"],"operator":"none"}`, true},
	{"default.endsWith", `{"suffix":"xyz"}`, true},
	{"default.regexMatch", `{"rule":"x[yz]+q"}`, true},
	{"default.regexMatch", `{"rule":"(a|b|é)+c?$","not":true}`, false},
	{"default.regexMatch", `{"rule":"(?i)\\b(a+)+$","not":true}`, false},
	{"default.regexReplace", `{"rule":"/a+/g"}`, true},
	{"default.regexReplace", `{"rule":"/a/g"}`, false},
	{"default.regexReplace", `{"rule":"/\\ba|a*b|q/g"}`, false},
	{"default.sentenceCount", `{}`, false},
	{"default.wordCount", `{}`, false},
	{"default.characterCount", `{}`, false},
	{"default.alluppercase", `{}`, false},
	{"default.isAllLowerCase", `{}`, false},
	{"default.jsonSchema", `{"schema":{"type":"object"}}`, false},
	{"default.jsonKeys", `{"keys":["a"],"operator":"any"}`, false},
	{"default.containsCode", `{"format":"Go"}`, false},
	{"default.notNull", `{}`, false},
	{"default.validUrls", `{}`, false},
	{"gateway.llmJudge", `{"model":"@openai/m","rubric":"r"}`, false},
}

// Each text check ends on 10 MB of one word, and allocates a bounded multiple of its size.
func TestTextChecks_EndOnATextOfOneWord(t *testing.T) { // not parallel: it counts allocated bytes
	if testing.Short() {
		t.Skip("reads 300 MB")
	}
	const size = 10 << 20
	plain := strings.Repeat("a", size)
	for _, c := range textChecks {
		if n := allocated(t, c.id, c.parameters, plain) / size; n > 16 {
			t.Errorf("%s on a plain word: allocated %d times the text, want at most 16", c.id, n)
		}
		if !c.folds {
			continue
		}
		if n := allocated(t, c.id, c.parameters, "а\u00ad"+plain) / size; n > 40 {
			t.Errorf("%s on a disguised word: allocated %d times the text, want at most 40", c.id, n)
		}
	}
}

// allocated returns the number of bytes that one run of a check allocates.
func allocated(t *testing.T, id, parameters, text string) uint64 {
	t.Helper()
	r := open(t, id, parameters, &check.Deps{Judge: always(`{"pass":true}`)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.Run(context.Background(), &check.Input{Texts: []string{text}})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A search that takes too long ends with its context.
func TestRegexChecks_EndWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text := strings.Repeat("a", 4<<20) + "B b"
	for _, c := range []struct{ id, parameters string }{
		{"default.regexMatch", `{"rule":"(a?){100}c?b$"}`}, {"default.regexReplace", `{"rule":"/(a?){100}bb*/g"}`},
		{"default.regexReplace", `{"rule":"/a+c|a/g"}`}, {"default.regexReplace", `{"rule":"/\\b(a?){100}b/"}`},
		{"default.contains", `{"words":["b"],"operator":"any"}`},
	} {
		got := open(t, c.id, c.parameters, nil).Run(ctx, &check.Input{Texts: []string{text}})
		compare(t, &got, false, "not searched in time", "")
	}
	refuse(t, "default.regexMatch", `{"rule":"`+strings.Repeat("([a-z]?x){1000}|", 100)+`y"}`, "rule is too complex")
}

// Replacement finds the matches that package regexp finds, in texts of any size.
func TestRegexReplace_FindsTheMatchesOfPackageRegexp(t *testing.T) {
	t.Parallel()
	patterns := []string{`a`, `a*`, `\ba`, `a\b`, `(?m)^a`, `(?m)a$`, `^a|b`, `\B`, `\b`, `(a)(b)?`, `a|ab`, `[^a]+`, `.`, `(?s).$`, `é+|\bü`, `x*`, `$`, `^`, `\Aa|\bb\z`}
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.SampledFrom(patterns).Draw(rt, "pattern")
		text := rapid.StringMatching(`(a|b|x|é|ü| |\n){0,30}`).Draw(rt, "text")
		r := open(t, "default.regexReplace", `{"redactText":"<$&>","rule":`+quote("/"+pattern+"/g")+`}`, nil)
		got := apply([]string{text}, r.Run(context.Background(), &check.Input{Texts: []string{text}}).Edits)[0]
		if want := regexp.MustCompile(pattern).ReplaceAllString(text, "<${0}>"); got != want {
			rt.Fatalf("%s on %q: %q, want %q", pattern, text, got, want)
		}
	})
	// Too large to be searched in one step, but too small for a time limit.
	text := strings.Repeat("b", 600_000) + " a " + strings.Repeat("é", 200_000) + " a"
	for _, pattern := range []string{`\ba(c{0,90})?`, `(a|c){1,40}`, `[ac](c{100})?$`} {
		r := open(t, "default.regexReplace", `{"redactText":"<$&>","rule":`+quote("/"+pattern+"/g")+`}`, nil)
		result := r.Run(context.Background(), &check.Input{Texts: []string{text}})
		if result.Error != nil {
			t.Fatalf("%s: %v", pattern, result.Error)
		}
		got := apply([]string{text}, result.Edits)[0]
		if want := regexp.MustCompile(pattern).ReplaceAllString(text, "<${0}>"); got != want {
			t.Errorf("%s: the matches in a large text differ", pattern)
		}
	}
}

// A pattern matches where package regexp says so, whatever strings it requires.
func TestRegexMatch_AgreesWithPackageRegexp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringMatching(`(\(\?i\))?((ask|Kiss|é|-|\[a-c0\]|\(ab|k\)|\(a|ſ\)|\.|x\{FFFD\}|\\b|\(ba\)\+)(\*|\?|\{1,2\})?){1,4}`).Draw(rt, "pattern")
		pattern = strings.ReplaceAll(pattern, "x{FFFD}", `\x{FFFD}`)
		re, err := regexp.Compile(pattern)
		if err != nil {
			rt.Skip(pattern)
		}
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"ask", "ASK", "kiss", "\u212aIſS", "é", "É", "-", "a", "b", "C", "0", "k", "\u212a", "ſ", "\xff", " ", "ba"}), 1, 8).Draw(rt, "text")
		joined := strings.Join(text, "")
		r := open(t, "default.regexMatch", `{"rule":`+quote(pattern)+`}`, nil)
		got := r.Run(context.Background(), &check.Input{Texts: []string{joined}})
		if want := re.MatchString(joined); want && !got.Verdict {
			rt.Fatalf("%s on %q: no match", pattern, joined)
		}
	})
}
