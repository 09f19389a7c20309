package check

import (
	"context"
	"regexp"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// regexMatch passes texts in which a pattern is found, or with not those in which it is not found.
func regexMatch() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.regexMatch", Phases: bothPhases(), Params: []param.Param{
			param.Required("rule", param.Pattern), param.Not,
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			re, err := regexp.Compile(p.Text("rule", ""))
			if err != nil {
				return nil, invalidParameter("rule", "must be a regular expression in RE2 syntax")
			}
			return &matchRunner{re: re, not: p.Bool("not", false), window: patternWindow(re)}, nil
		},
	}
}

type matchRunner struct {
	re     *regexp.Regexp
	not    bool
	window int
}

// Run searches the pattern in each form of the text.
func (m *matchRunner) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	data := report{"regexPattern": m.re.String(), "not": m.not, "textExcerpt": excerpt(text), "matchDetails": nil}
	if text == "" {
		return errorResult("the text is empty", data)
	}
	forms := formsOf(text)
	found := forms.has(func(form string) bool {
		if !m.re.MatchString(form) {
			return false
		}
		data["matchDetails"] = m.details(form)
		return true
	})
	verdict := found != m.not
	data["verdict"] = verdict
	data["explanation"] = choose(found, "the pattern was found", "the pattern was not found")
	return Result{Verdict: verdict, Data: data}
}

// details describes the first match as JavaScript does: index counts UTF-16 units.
func (m *matchRunner) details(text string) report {
	at := m.re.FindStringSubmatchIndex(text)
	captures, groups := make([]any, 0, len(at)/2-1), report{}
	for i, name := range m.re.SubexpNames() {
		if i == 0 {
			continue
		}
		var capture any // nil for a group that does not take part
		if at[2*i] >= 0 {
			capture = text[at[2*i]:at[2*i+1]]
		}
		captures = append(captures, capture)
		if name != "" {
			groups[name] = capture
		}
	}
	return report{"matchedText": text[at[0]:at[1]], "index": countUTF16(text[:at[0]]), "groups": groups, "captures": captures}
}

// Window implements Windowed: a forbidden pattern with matches of bounded length can be found while a
// text arrives.
func (m *matchRunner) Window() int {
	if !m.not {
		return 0
	}
	return m.window
}
