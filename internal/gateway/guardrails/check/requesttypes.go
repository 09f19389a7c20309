package check

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// Metadata fields with the types of a request, for guardrails whose parameters have no list.
const (
	allowedTypesField = "supported_endpoints"
	blockedTypesField = "blocked_endpoints"
)

// allowedRequestTypes passes requests whose type is not blocked, and in the allow list if there is one.
// Types are the names of endpoints: "chatComplete".
func allowedRequestTypes() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.allowedRequestTypes", Phases: inputPhase(), Params: []param.Param{
			param.Optional("allowedTypes", param.TextListOrCSV), param.Optional("blockedTypes", param.TextListOrCSV),
		}},
		Textless: true,
		New: func(p Params, _ *Deps) (Runner, error) {
			r := &requestTypesRunner{allowed: commaList(p.List("allowedTypes")), blocked: commaList(p.List("blockedTypes"))}
			if common, found := overlap(r.allowed, r.blocked); found {
				return nil, invalidParameter("blockedTypes", "must not contain "+common+", which allowedTypes contains too")
			}
			return r, nil
		},
	}
}

type requestTypesRunner struct{ allowed, blocked []string }

// Run compares the type of the request.
func (r *requestTypesRunner) Run(_ context.Context, in *Input) Result {
	allowed, blocked := r.allowed, r.blocked
	if len(allowed) == 0 {
		allowed = commaList(metadataList(in.Metadata[allowedTypesField]))
	}
	if len(blocked) == 0 {
		blocked = commaList(metadataList(in.Metadata[blockedTypesField]))
	}
	kind := string(in.Endpoint)
	data := report{"requestType": kind, "allowedTypes": orEmpty(allowed), "blockedTypes": orEmpty(blocked)}
	if common, found := overlap(allowed, blocked); found {
		return errorResult("the request type "+excerpt(common)+" is allowed and blocked; remove it from one list", data)
	}
	isBlocked := slices.Contains(blocked, kind)
	verdict := !isBlocked && (len(allowed) == 0 || slices.Contains(allowed, kind))
	data["verdict"] = verdict
	data["explanation"] = choose(verdict, "the request type is allowed", choose(isBlocked, "the request type is blocked", "the request type is not in the allow list"))
	return Result{Verdict: verdict, Data: data}
}

// commaList splits each item at its commas and removes white space and empty items.
func commaList(items []string) []string {
	var out []string
	for _, item := range items {
		for part := range strings.SplitSeq(item, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// metadataList returns the elements of a metadata field that is a JSON list, else the field itself.
func metadataList(value string) []string {
	values := metadataValues(value)
	if len(values) > 1 {
		return values[1:]
	}
	return values
}

// overlap returns an item that is in both lists.
func overlap(a, b []string) (string, bool) {
	if i := slices.IndexFunc(a, func(item string) bool { return slices.Contains(b, item) }); i >= 0 {
		return a[i], true
	}
	return "", false
}

// orEmpty returns a list that encodes as [] if it is nil.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
