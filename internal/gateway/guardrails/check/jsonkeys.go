package check

import (
	"context"
	"encoding/json"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/textfold"
)

// jsonKeys passes texts with a JSON object that has any, all or none of some keys at its top level.
func jsonKeys() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.jsonKeys", Phases: outputPhase(), Params: []param.Param{
			param.Required("keys", param.TextList), param.Required("operator", operatorForm()),
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			r := &keysRunner{operator: p.Text("operator", "any")}
			for _, key := range p.List("keys") {
				r.keys = append(r.keys, key)
				r.folded = append(r.folded, newNeedle(key).folded)
			}
			return r, nil
		},
	}
}

type keysRunner struct {
	keys     []string
	folded   []string // keys in their folded form
	operator string
}

// Run compares the keys of each JSON object of the text. The data describe the first object that
// passes, else the last one.
func (k *keysRunner) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	data := report{
		"operator": k.operator, "textExcerpt": excerpt(text), "matchedJson": nil, "verdict": false,
		"presentKeys": []string{}, "missingKeys": k.keys, "explanation": "the text contains no JSON object",
	}
	verdict := false
	for _, candidate := range jsonCandidates(text) {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(candidate), &object) != nil || object == nil {
			continue
		}
		present, missing := k.split(object)
		verdict = combine(k.operator, len(present), len(k.keys))
		data["matchedJson"], data["presentKeys"], data["missingKeys"] = json.RawMessage(candidate), present, missing
		data["explanation"] = choose(verdict, "the keys match", "the keys do not match")
		if verdict {
			break
		}
	}
	data["verdict"] = verdict
	return Result{Verdict: verdict, Data: data}
}

// split splits the keys into those that an object has, in any form, and the others.
func (k *keysRunner) split(object map[string]json.RawMessage) (present, missing []string) {
	present, missing = []string{}, []string{}
	disguised := make(map[string]bool)
	for name := range object {
		if form := textfold.Fold(name); !form.Same() {
			disguised[form.Folded] = true
		}
	}
	for i, key := range k.keys {
		_, plain := object[key]
		_, folded := object[k.folded[i]]
		if plain || folded || disguised[k.folded[i]] {
			present = append(present, key)
		} else {
			missing = append(missing, key)
		}
	}
	return present, missing
}
