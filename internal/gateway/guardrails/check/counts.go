package check

import (
	"context"
	"strings"
	"unicode/utf8"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// sentenceCount passes texts whose number of sentences lies in a range. Each full stop, exclamation
// mark and question mark counts. Empty text has 0.
func sentenceCount() Check {
	return countCheck("default.sentenceCount", counter{
		unit: "Sentences", result: "sentenceCount", maximum: 99_999, emptyIsZero: true,
		count: func(s string) int {
			return strings.Count(s, ".") + strings.Count(s, "!") + strings.Count(s, "?")
		},
	})
}

// wordCount passes texts whose number of words, separated by white space, lies in a range.
func wordCount() Check {
	return countCheck("default.wordCount", counter{unit: "Words", result: "wordCount", maximum: 99_999, count: countFields})
}

// characterCount passes texts whose length lies in a range. As in JavaScript, characters are UTF-16
// units: an emoji is two.
func characterCount() Check {
	return countCheck("default.characterCount", counter{unit: "Characters", result: "characterCount", maximum: 9_999_999, count: countUTF16})
}

// counter counts something in texts.
type counter struct {
	unit        string // ending of the parameter names: "Words" for minWords and maxWords
	result      string // field of the data that contains the number
	maximum     float64
	emptyIsZero bool // empty text is counted; otherwise it is an error
	count       func(s string) int

	min, max float64
	not      bool
}

func countCheck(id string, c counter) Check {
	return Check{
		Definition: guardrail.Definition{ID: id, Phases: bothPhases(), Params: []param.Param{
			param.Optional("min"+c.unit, param.Count), param.Optional("max"+c.unit, param.Count), param.Not,
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			r := c
			r.min, r.max, r.not = p.Number("min"+c.unit, 0), p.Number("max"+c.unit, c.maximum), p.Bool("not", false)
			if r.max < r.min {
				return nil, invalidParameter("max"+c.unit, "must not be less than min"+c.unit)
			}
			return &r, nil
		},
	}
}

// Run counts.
func (c *counter) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	data := report{"min" + c.unit: c.min, "max" + c.unit: c.max, "not": c.not, "textExcerpt": excerpt(text)}
	if text == "" && !c.emptyIsZero {
		return errorResult("the text is empty", data)
	}
	n := c.count(text)
	inRange := float64(n) >= c.min && float64(n) <= c.max
	verdict := inRange != c.not
	data[c.result], data["verdict"] = n, verdict
	data["explanation"] = choose(inRange, "the number is in the range", "the number is outside the range")
	return Result{Verdict: verdict, Data: data}
}

func countFields(s string) int {
	n := 0
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

// countUTF16 returns the number of UTF-16 units of a text.
func countUTF16(s string) int {
	n := utf8.RuneCountInString(s)
	for i := range len(s) {
		if s[i] >= 0xF0 { // first byte of a character beyond U+FFFF
			n++
		}
	}
	return n
}
