package check

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// modelWhitelist passes requests whose model is in a list.
func modelWhitelist() Check {
	return Check{
		Definition: guardrail.Definition{
			ID: "default.modelWhitelist", Aliases: []string{"default.modelwhitelist"}, Phases: inputPhase(),
			Params: []param.Param{param.Required("models", param.TextList), param.Not},
		},
		Textless: true,
		New: func(p Params, _ *Deps) (Runner, error) {
			return &modelListRunner{models: p.List("models"), not: p.Bool("not", false)}, nil
		},
	}
}

type modelListRunner struct {
	models []string
	not    bool
}

// Run compares the model of the request.
func (m *modelListRunner) Run(_ context.Context, in *Input) Result {
	return judgeModel(in, m.models, m.not, report{"not": m.not})
}

// judgeModel judges the model of a request by a list of permitted models. It completes data.
func judgeModel(in *Input, permitted []string, not bool, data report) Result {
	data["requestedModel"], data["allowedModels"] = in.Model, permitted
	if in.Model == "" {
		return errorResult("the request names no model", data)
	}
	listed := slices.Contains(permitted, in.Model)
	verdict := listed != not
	data["verdict"] = verdict
	data["explanation"] = choose(listed, "the model is in the list", "the model is not in the list")
	return Result{Verdict: verdict, Data: data}
}

// anyModel in a list of a rule permits every model.
const anyModel = "*"

// modelRules passes requests whose model is in one of the lists that their metadata select, or without
// such a list in the default list.
func modelRules() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.modelRules", Phases: inputPhase(), Params: []param.Param{
			param.Required("rules", param.Fields(
				param.Optional("defaults", param.TextList), param.Optional("metadata", param.MapOf(param.MapOf(param.TextList))),
			)), param.Not,
		}},
		Textless: true,
		New: func(p Params, _ *Deps) (Runner, error) {
			rules := Params(p.Object("rules"))
			r := &modelRulesRunner{defaults: rules.List("defaults"), byMetadata: map[string]map[string][]string{}, not: p.Bool("not", false)}
			for key := range rules.Object("metadata") {
				values := Params(Params(rules.Object("metadata")).Object(key))
				r.byMetadata[key] = make(map[string][]string, len(values))
				for value := range values {
					r.byMetadata[key][value] = values.List(value)
				}
			}
			if len(r.defaults) == 0 && len(r.byMetadata) == 0 {
				return nil, invalidParameter("rules", "must have defaults or metadata")
			}
			return r, nil
		},
	}
}

type modelRulesRunner struct {
	defaults   []string
	byMetadata map[string]map[string][]string // models by key and value of the metadata
	not        bool
}

// Run compares the model of the request with the lists that apply to it.
func (m *modelRulesRunner) Run(_ context.Context, in *Input) Result {
	permitted := m.permitted(in.Metadata)
	data := report{"not": m.not}
	if len(permitted) == 0 {
		return errorResult("no rule applies to the metadata of the request; add a list of defaults", data)
	}
	if in.Model != "" && slices.Contains(permitted, anyModel) {
		permitted = append(permitted, in.Model)
	}
	return judgeModel(in, permitted, m.not, data)
}

// permitted returns the models that a request with these metadata may name.
func (m *modelRulesRunner) permitted(metadata map[string]string) []string {
	var models []string
	for _, key := range slices.Sorted(maps.Keys(m.byMetadata)) {
		value, present := metadata[key]
		if !present {
			continue
		}
		for _, item := range metadataValues(value) {
			models = append(models, m.byMetadata[key][item]...)
		}
	}
	if len(models) == 0 {
		models = slices.Clone(m.defaults)
	}
	return models
}

// metadataValues returns the values of a metadata field: the field itself, and the elements of a JSON
// list of strings.
func metadataValues(value string) []string {
	values := []string{value}
	if value == "" || value[0] != '[' {
		return values
	}
	var list []string
	if json.Unmarshal([]byte(value), &list) != nil {
		return values
	}
	return append(values, list...)
}
