package check

import (
	"context"

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
			s, err := newSearcher(p.Text("rule", ""), "rule")
			return &matchRunner{search: s, not: p.Bool("not", false)}, err
		},
	}
}

type matchRunner struct {
	search *searcher
	not    bool
}

// Run searches the pattern in each form of the text.
func (m *matchRunner) Run(ctx context.Context, in *Input) Result {
	text := in.Text()
	data := report{"regexPattern": m.search.re.String(), "not": m.not, "textExcerpt": excerpt(text), "matchDetails": nil}
	if text == "" {
		return errorResult("the text is empty", data)
	}
	ctx, cancel := withSearchTime(ctx, len(text))
	defer cancel()
	at, form, err := m.find(ctx, in.forms())
	if err != nil {
		return errorResult(err.Error(), data)
	}
	if at != nil {
		data["matchDetails"] = m.details(form, at)
	}
	verdict := (at != nil) != m.not
	data["verdict"] = verdict
	data["explanation"] = choose(at != nil, "the pattern was found", "the pattern was not found")
	return Result{Verdict: verdict, Data: data}
}

// find returns the first match and the form of the text that has it, nil without one.
func (m *matchRunner) find(ctx context.Context, forms *textForms) (at []int, form string, err error) {
	if at, err := m.findIn(ctx, forms.original); at != nil || err != nil {
		return at, forms.original, err
	}
	for _, folded := range forms.folded() {
		if at, err := m.findIn(ctx, folded.Folded); at != nil || err != nil {
			return at, folded.Folded, err
		}
	}
	return nil, "", nil
}

// findIn tests first, which is faster than finding where.
func (m *matchRunner) findIn(ctx context.Context, form string) ([]int, error) {
	found, err := m.search.has(ctx, form)
	if err != nil || !found {
		return nil, err
	}
	return m.search.find(ctx, form, 0)
}

// details describes the first match as JavaScript does: index counts UTF-16 units.
func (m *matchRunner) details(text string, at []int) report {
	captures, groups := make([]any, 0, len(at)/2-1), report{}
	for i, name := range m.search.re.SubexpNames() {
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
	return m.search.window
}
