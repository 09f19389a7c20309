package classify

import (
	"context"
	"math"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify/moderation"
)

// experimental are the categories whose measured precision is below 80 %, and those that are not measured on
// texts: FIGURES.md.
var experimental = []string{moderation.HateThreatening, moderation.HarassmentThreat, moderation.SelfHarmInstructions, moderation.SexualMinors}

// moderateContent passes texts in which no listed category is found.
func moderateContent() check.Check {
	return check.Check{
		Definition: guardrail.Definition{ID: "gateway.moderateContent", Phases: bothPhases(), Experimental: true, Params: []param.Param{
			param.Required("categories", param.ListOf(moderation.All()...)), param.Not, timeout,
		}},
		New: func(p check.Params, _ *check.Deps) (check.Runner, error) {
			m, err := moderation.Load()
			if err != nil {
				return nil, err
			}
			return &moderateRunner{moderator: m, categories: p.List("categories"), not: p.Bool("not", false)}, nil
		},
	}
}

type moderateRunner struct {
	moderator  *moderation.Moderator
	categories []string
	not        bool
}

// Run judges the listed categories.
func (m *moderateRunner) Run(ctx context.Context, in *check.Input) check.Result {
	text := in.Text()
	if strings.TrimSpace(text) == "" {
		return empty()
	}
	scores, err := m.moderator.Judge(ctx, text)
	if err != nil {
		return interrupted()
	}
	var flagged, unproven []string
	shown := make(report, len(m.categories))
	for _, category := range m.categories {
		shown[category] = report{"score": rounded(scores[category]), "threshold": rounded(m.moderator.Threshold(category))}
		if m.moderator.Found(scores, category) {
			flagged = append(flagged, category)
		}
		if slices.Contains(experimental, category) {
			unproven = append(unproven, category)
		}
	}
	verdict := (len(flagged) == 0) != m.not
	data := report{
		"verdict": verdict, "not": m.not, "categories": shown, "flaggedCategories": flagged, "experimentalCategories": unproven,
		"explanation": "no listed category is found",
	}
	if len(flagged) > 0 {
		data["explanation"] = "found: " + strings.Join(flagged, ", ")
	}
	return check.Result{Verdict: verdict, Data: data}
}

// rounded returns a score with three digits.
func rounded(score float64) float64 { return math.Round(score*1000) / 1000 }

// interrupted is the result of a check that did not finish in time.
func interrupted() check.Result {
	return check.Failed("TimeoutError", "the check did not finish in time")
}
