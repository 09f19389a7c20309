package check

import (
	"context"
	"encoding/json"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// jsonKeys passes texts with a JSON object that has any, all or none of some keys at its top level.
func jsonKeys() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.jsonKeys", Phases: outputPhase(), Params: []param.Param{
			param.Required("keys", param.TextList), param.Required("operator", operatorForm()),
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			return &keysRunner{keys: p.List("keys"), operator: p.Text("operator", "any")}, nil
		},
	}
}

type keysRunner struct {
	keys     []string
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

func (k *keysRunner) split(object map[string]json.RawMessage) (present, missing []string) {
	present, missing = []string{}, []string{}
	for _, key := range k.keys {
		if _, ok := object[key]; ok {
			present = append(present, key)
		} else {
			missing = append(missing, key)
		}
	}
	return present, missing
}
