package check

import (
	"context"
	"strings"
	"unicode"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// notNull passes responses with content other than white space and invisible signs. A response with tool calls passes in
// any case.
func notNull() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.notNull", Phases: outputPhase(), Params: []param.Param{param.Not}},
		New:        func(p Params, _ *Deps) (Runner, error) { return notNullRunner{p.Bool("not", false)}, nil },
	}
}

type notNullRunner struct{ not bool }

// Run looks for content.
func (n notNullRunner) Run(_ context.Context, in *Input) Result {
	if in.ToolCalls {
		return Result{Verdict: true, Data: report{"verdict": true, "not": n.not, "explanation": "the response has tool calls"}}
	}
	hasContent := false
	for _, text := range in.Texts {
		hasContent = hasContent || strings.ContainsFunc(text, isVisible)
	}
	verdict := hasContent != n.not
	return Result{Verdict: verdict, Data: report{
		"verdict": verdict, "not": n.not, "explanation": choose(hasContent, "the content is not empty", "the content is empty"),
	}}
}

// isVisible reports whether a character is neither white space nor an invisible sign.
func isVisible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
