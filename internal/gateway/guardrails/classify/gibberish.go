package classify

import (
	"context"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify/gibberish"
)

// gibberishCheck passes texts that are not gibberish.
func gibberishCheck() check.Check {
	return check.Check{
		Definition: guardrail.Definition{ID: "gateway.gibberish", Phases: bothPhases(), Params: []param.Param{param.Not, timeout}},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			d, err := gibberish.Load()
			if err != nil {
				return nil, err
			}
			return &gibberishRunner{detector: d, not: p.Bool("not", false)}, nil
		},
	}
}

type gibberishRunner struct {
	detector *gibberish.Detector
	not      bool
}

// Run judges the text. Texts that cannot be judged pass.
func (g *gibberishRunner) Run(ctx context.Context, in *check.Input) check.Result {
	text := in.Text()
	if strings.TrimSpace(text) == "" {
		return empty()
	}
	score, judged, err := g.detector.Judge(ctx, text)
	if err != nil {
		return interrupted()
	}
	threshold := g.detector.Threshold()
	found := judged && score >= threshold
	verdict := found == g.not || !judged
	data := report{"verdict": verdict, "not": g.not, "score": rounded(score), "threshold": rounded(threshold), "explanation": "the text is not gibberish"}
	switch {
	case !judged:
		data["explanation"] = "the text has too few words of the Latin script to judge; it passes"
	case found:
		data["explanation"] = "a part of the text is gibberish"
	}
	return check.Result{Verdict: verdict, Data: data}
}
