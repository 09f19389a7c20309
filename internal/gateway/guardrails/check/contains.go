package check

import (
	"context"
	"unicode/utf8"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// contains passes texts that contain any, all or none of some strings. Capital letters matter.
func contains() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.contains", Phases: bothPhases(), Params: []param.Param{
			param.Required("words", param.TextList), param.Required("operator", operatorForm()),
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			r := &containsRunner{operator: p.Text("operator", "any")}
			for _, word := range p.List("words") {
				r.needles = append(r.needles, newNeedle(word))
				r.longest = max(r.longest, utf8.RuneCountInString(word))
			}
			return r, nil
		},
	}
}

// operatorForm accepts the operators that combine several conditions.
func operatorForm() param.Form { return param.OneOf("any", "all", "none") }

// combine applies an operator to the number of conditions that are met, of a total.
func combine(operator string, met, total int) bool {
	switch operator {
	case "all":
		return met == total
	case "none":
		return met == 0
	}
	return met > 0
}

type containsRunner struct {
	needles  []needle
	operator string
	longest  int // characters
}

// Run searches each string in each form of the text.
func (c *containsRunner) Run(ctx context.Context, in *Input) Result {
	text, forms := in.Text(), in.forms()
	ctx, cancel := withSearchTime(ctx, len(text))
	defer cancel()
	found, missing := make([]string, 0, 4), make([]string, 0, len(c.needles))
	for _, n := range c.needles {
		if len(text) >= largeText && ctx.Err() != nil {
			return errorResult("the text was not searched in time; use fewer words", report{"operator": c.operator})
		}
		if n.isIn(forms) {
			found = append(found, n.plain)
		} else {
			missing = append(missing, n.plain)
		}
	}
	verdict := combine(c.operator, len(found), len(c.needles))
	return Result{Verdict: verdict, Data: report{
		"verdict": verdict, "operator": c.operator, "foundWords": found, "missingWords": missing, "textExcerpt": excerpt(text),
		"explanation": choose(verdict, "the check with operator "+c.operator+" passed", "the check with operator "+c.operator+" failed"),
	}}
}

// Window implements Windowed: a forbidden string can be found while a text arrives.
func (c *containsRunner) Window() int {
	if c.operator != "none" {
		return 0
	}
	return windowFor(c.longest)
}

// endsWith passes texts that end with a suffix, or with it and a full stop.
func endsWith() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.endsWith", Phases: bothPhases(), Params: []param.Param{
			param.Required("suffix", param.Text(1024)), param.Not,
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			return &suffixRunner{suffix: newNeedle(p.Text("suffix", "")), not: p.Bool("not", false)}, nil
		},
	}
}

type suffixRunner struct {
	suffix needle
	not    bool
}

// Run compares the end of the text.
func (s *suffixRunner) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	data := report{"suffix": s.suffix.plain, "not": s.not, "textExcerpt": excerpt(text)}
	if text == "" {
		return errorResult("the text is empty", data)
	}
	ends := s.suffix.ends(in.forms())
	verdict := ends != s.not
	data["verdict"] = verdict
	data["explanation"] = choose(ends, "the text ends with the suffix", "the text does not end with the suffix")
	return Result{Verdict: verdict, Data: data}
}
