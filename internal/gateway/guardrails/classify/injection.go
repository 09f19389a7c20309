package classify

import (
	"context"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify/injection"
)

// promptInjection passes texts that do not try to replace the instructions of the model (ours).
func promptInjection() check.Check {
	return check.Check{
		Definition: guardrail.Definition{ID: "gateway.promptInjection", Phases: bothPhases(), Params: []param.Param{
			param.Optional("threshold", param.Number(0, 1)), param.Not, timeout,
		}},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			d, err := injection.Load()
			if err != nil {
				return nil, err
			}
			return &injectionRunner{detector: d, threshold: p.Number("threshold", d.Threshold()), not: p.Bool("not", false)}, nil
		},
	}
}

type injectionRunner struct {
	detector  *injection.Detector
	threshold float64
	not       bool
}

// Run compares the likelihood of an attack with the threshold.
func (i *injectionRunner) Run(ctx context.Context, in *check.Input) check.Result {
	text := in.Text()
	if strings.TrimSpace(text) == "" {
		return empty()
	}
	score, err := i.detector.Judge(ctx, text)
	if err != nil {
		return interrupted()
	}
	found := score >= i.threshold
	verdict := found == i.not
	data := report{"verdict": verdict, "not": i.not, "score": rounded(score), "threshold": rounded(i.threshold), "explanation": "no attempt to replace instructions is found"}
	if found {
		data["explanation"] = "the text seems to replace the instructions of the model"
	}
	return check.Result{Verdict: verdict, Data: data}
}
