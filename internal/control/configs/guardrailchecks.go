package configs

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/guardrail"
)

// checks is the route that lists the checks that guardrails may name. It contains nothing of the
// organisation, so every identified caller may use it. It is ours.
func (k guardrails) checks() resource.Resource {
	return resource.Operations{{
		Method: http.MethodGet, Path: "/discovery/guardrail-checks", ID: "listGuardrailChecks", Summary: "List the guardrail checks and their parameters",
		Tag: "Discovery", Anywhere: true, Response: resource.ListOf[knownCheckView]{}, Run: k.listChecks,
	}}
}

// knownCheckView is a check that guardrails may use.
type knownCheckView struct {
	ID           string            `json:"id" doc:"Id of the check, for example default.wordCount"`
	Aliases      []string          `json:"aliases" nullable:"false"`
	Hooks        []guardrail.Phase `json:"hooks" nullable:"false" enum:"input,output"`
	Transformer  bool              `json:"transformer" doc:"Whether the check rewrites content and never denies"`
	Parameters   []checkParameter  `json:"parameters" nullable:"false"`
	Open         bool              `json:"open" doc:"Whether the check accepts parameters that are not listed"`
	Experimental bool              `json:"experimental" doc:"Whether the measured precision of the check, or of one of its categories, is below 80 percent"`
	Unavailable  string            `json:"unavailable,omitempty" doc:"Reason why guardrails must not name the check"`
	Object       string            `json:"object" enum:"guardrail-check"`
}

type checkParameter struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
}

func (k guardrails) listChecks(context.Context, *resource.Call) (any, error) {
	checks := k.Checks.All()
	out := resource.ListOf[knownCheckView]{Object: "list", Total: len(checks), Data: make([]knownCheckView, len(checks))}
	for i, known := range checks {
		v := knownCheckView{
			ID: known.ID, Aliases: jsonfield.OrEmpty(slices.Clone(known.Aliases)), Hooks: known.Phases, Transformer: known.Transformer,
			Parameters: []checkParameter{}, Open: known.Open, Experimental: known.Experimental, Unavailable: known.Unavailable, Object: "guardrail-check",
		}
		for _, p := range known.Params {
			v.Parameters = append(v.Parameters, checkParameter{p.Name, p.Required})
		}
		out.Data[i] = v
	}
	return out, nil
}
