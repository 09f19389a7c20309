// Package classify contains the checks that judge a text with models inside the binary:
// gateway.moderateContent, gateway.language, gateway.gibberish and gateway.promptInjection. It calls no
// service. Each check has a file here with its parameters and its result; the models are in the
// packages below. Start reading at List. FIGURES.md shows how well the models do, and on which texts.
package classify

import (
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/fault"
)

// List returns the checks of this package. The caller owns the slice.
// Source: contract/dataplane.md 5.7; promptInjection and the output phases are ours.
func List() []check.Check {
	return []check.Check{moderateContent(), languageCheck(), gibberishCheck(), promptInjection()}
}

// report is the data that a check shows in hook_results, by field name. It never quotes the text.
type report = map[string]any

func bothPhases() []guardrail.Phase { return []guardrail.Phase{guardrail.Input, guardrail.Output} }

// empty is the result for a text without content.
func empty() check.Result {
	res := check.Failed("Check error", "the text is empty")
	res.Data = report{"explanation": "the text is empty"}
	return res
}

// invalidParameter is the error of New about one parameter.
func invalidParameter(path, text string) error {
	return fault.New(fault.InvalidParameter, path+" "+text).WithParam("parameters." + path)
}

// timeout is accepted because the same check calls a service elsewhere. The checks here finish in
// milliseconds, and the engine ends them with the hook.
var timeout = param.Timeout
