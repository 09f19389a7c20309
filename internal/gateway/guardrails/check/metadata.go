package check

import (
	"context"
	"maps"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// requiredMetadataKeys passes requests whose metadata have any, all or none of some keys.
func requiredMetadataKeys() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.requiredMetadataKeys", Phases: inputPhase(), Params: []param.Param{
			param.Required("metadataKeys", param.TextList), param.Optional("operator", operatorForm()),
		}},
		Textless: true,
		New: func(p Params, _ *Deps) (Runner, error) {
			return &metadataKeysRunner{keys: p.List("metadataKeys"), operator: p.Text("operator", "all")}, nil
		},
	}
}

type metadataKeysRunner struct {
	keys     []string
	operator string
}

// Run looks for each key.
func (m *metadataKeysRunner) Run(_ context.Context, in *Input) Result {
	return judgeKeys(m.keys, m.operator, func(key string) bool {
		_, present := in.Metadata[key]
		return present
	})
}

// judgeKeys combines the conditions of keys by an operator.
func judgeKeys(keys []string, operator string, condition func(key string) bool) Result {
	met, missed := make([]string, 0, len(keys)), make([]string, 0, len(keys))
	for _, key := range keys {
		if condition(key) {
			met = append(met, key)
		} else {
			missed = append(missed, key)
		}
	}
	verdict := combine(operator, len(met), len(keys))
	return Result{Verdict: verdict, Data: report{
		"verdict": verdict, "operator": operator, "presentKeys": met, "missingKeys": missed,
		"explanation": choose(verdict, "the metadata pass the check with operator "+operator, "the metadata fail the check with operator "+operator),
	}}
}

// requiredMetadataKeyPairs passes requests whose metadata have any, all or none of some pairs of key
// and value.
func requiredMetadataKeyPairs() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.requiredMetadataKeyPairs", Phases: inputPhase(), Params: []param.Param{
			param.Required("metadataPairs", param.MapOf(plainForm)), param.Optional("operator", operatorForm()), param.Optional("matchType", matchTypeForm()),
		}},
		Textless: true,
		New: func(p Params, _ *Deps) (Runner, error) {
			pairs := p.Object("metadataPairs")
			r := &metadataPairsRunner{operator: p.Text("operator", "all"), pairs: make(map[string]*valueMatcher, len(pairs))}
			if len(pairs) == 0 {
				return nil, invalidParameter("metadataPairs", "must have at least one pair")
			}
			for key, value := range pairs {
				expected, _ := plainTexts(value)
				m, err := newValueMatcher(p.Text("matchType", matchExact), expected, "metadataPairs."+key)
				if err != nil {
					return nil, err
				}
				r.pairs[key] = m
			}
			r.keys = slices.Sorted(maps.Keys(r.pairs))
			return r, nil
		},
	}
}

type metadataPairsRunner struct {
	pairs    map[string]*valueMatcher
	keys     []string // of pairs, sorted
	operator string
}

// Run compares the value of each key. A missing key does not match.
func (m *metadataPairsRunner) Run(_ context.Context, in *Input) Result {
	return judgeKeys(m.keys, m.operator, func(key string) bool {
		value, present := in.Metadata[key]
		if !present {
			return false
		}
		if values := metadataValues(value); len(values) > 1 && m.pairs[key].list(values[1:]) {
			return true
		}
		return m.pairs[key].text(value)
	})
}
