package configs

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/guardrail"
)

// checks returns the route that lists the checks of this version. They do not belong to an
// organisation, so every identified caller may use it. (ours)
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
	list := make([]knownCheckView, len(checks))
	for i := range checks {
		list[i] = viewCheck(&checks[i])
	}
	return resource.CompleteList(list), nil
}

func viewCheck(d *guardrail.Definition) knownCheckView {
	v := knownCheckView{
		ID: d.ID, Aliases: jsonfield.OrEmpty(slices.Clone(d.Aliases)), Hooks: d.Phases, Transformer: d.Transformer,
		Parameters: []checkParameter{}, Open: d.Open, Experimental: d.Experimental, Unavailable: d.Unavailable, Object: "guardrail-check",
	}
	for _, p := range d.Params {
		v.Parameters = append(v.Parameters, checkParameter{p.Name, p.Required})
	}
	return v
}
