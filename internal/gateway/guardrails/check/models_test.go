package check_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/check"
)

func model(name string, metadata map[string]string) check.Input {
	return check.Input{Model: name, Metadata: metadata}
}

func TestModelWhitelist_ComparesTheModelOfTheRequest(t *testing.T) {
	t.Parallel()
	runRequests(t, "default.modelWhitelist", []requestCase{
		{"in the list", `{"models":["a","b"]}`, model("b", nil), true, "", `{"requestedModel":"b","allowedModels":["a","b"]}`},
		{"not in the list", `{"models":["a"]}`, model("A", nil), false, "", ""},
		{"in the list with not", `{"models":["a"],"not":true}`, model("a", nil), false, "", `{"not":true}`},
		{"not in the list with not", `{"models":["a"],"not":true}`, model("b", nil), true, "", ""},
		{"no model is an error", `{"models":["a"]}`, model("", nil), false, "names no model", ""},
	})
	runRequests(t, "modelwhitelist", []requestCase{{"the alias", `{"models":["a"]}`, model("a", nil), true, "", ""}})
	runRefusals(t, "default.modelWhitelist", refusals{`{}`: ".models: required", `{"models":[]}`: ".models: a list of 1"})
}

func TestModelRules_SelectListsByMetadata(t *testing.T) {
	t.Parallel()
	const rules = `{"rules":{"defaults":["small"],"metadata":{"team":{"red":["large"],"blue":["medium"],"root":["*"]},"tier":{"paid":["huge"]}}}}`
	team := func(value string) map[string]string { return map[string]string{"team": value} }
	runRequests(t, "default.modelRules", []requestCase{
		{"a list of the metadata", rules, model("large", team("red")), true, "", `{"allowedModels":["large"]}`},
		{"the defaults do not add to a list of the metadata", rules, model("small", team("red")), false, "", ""},
		{"the list of another value", rules, model("medium", team("red")), false, "", ""},
		{"the defaults", rules, model("small", team("green")), true, "", ""},
		{"the defaults without metadata", rules, model("large", nil), false, "", ""},
		{"the union of two keys", rules, model("huge", map[string]string{"team": "red", "tier": "paid"}), true, "", `{"allowedModels":["large","huge"]}`},
		{"the union of a list of values", rules, model("medium", team(`["red","blue"]`)), true, "", ""},
		{"any model", rules, model("other", team("root")), true, "", ""},
		{"no model is an error", rules, model("", team("root")), false, "names no model", ""},
		{"no rule is an error", `{"rules":{"metadata":{"team":{"red":["a"]}}}}`, model("a", nil), false, "no rule applies", ""},
		{"not", `{"not":true,"rules":{"defaults":["a"]}}`, model("a", nil), false, "", ""},
	})
	runRefusals(t, "default.modelRules", refusals{
		`{}`:           ".rules: required",
		`{"rules":{}}`: ".rules: must have defaults",
		`{"rules":{"metadata":{"team":{"red":"a"}}}}`: ".rules.metadata.team.red: a list of 1",
		`{"rules":{"models":["a"]}}`:                  ".rules.models: unknown parameter",
	})
}
