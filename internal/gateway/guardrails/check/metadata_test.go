package check_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/check"
)

func withMetadata(pairs ...string) check.Input {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return check.Input{Metadata: m}
}

func TestRequiredMetadataKeys_CombineByOperator(t *testing.T) {
	t.Parallel()
	runRequests(t, "default.requiredMetadataKeys", []requestCase{
		{"all by default", `{"metadataKeys":["a","b"]}`, withMetadata("a", "1"), false, "", `{"presentKeys":["a"],"missingKeys":["b"],"operator":"all"}`},
		{"all are present", `{"metadataKeys":["a","b"],"operator":"all"}`, withMetadata("a", "1", "b", ""), true, "", ""},
		{"any is present", `{"metadataKeys":["a","b"],"operator":"any"}`, withMetadata("b", "1"), true, "", ""},
		{"any without one", `{"metadataKeys":["a","b"],"operator":"any"}`, withMetadata(), false, "", ""},
		{"none is present", `{"metadataKeys":["a","b"],"operator":"none"}`, withMetadata("A", "1"), true, "", ""},
		{"none with one", `{"metadataKeys":["a","b"],"operator":"none"}`, withMetadata("a", "1"), false, "", ""},
		{"no metadata", `{"metadataKeys":["a"]}`, check.Input{}, false, "", ""},
	})
	runRefusals(t, "default.requiredMetadataKeys", refusals{`{}`: ".metadataKeys: required", `{"metadataKeys":["a"],"operator":"one"}`: ".operator: one of any"})
}

func TestRequiredMetadataKeyPairs_CompareValues(t *testing.T) {
	t.Parallel()
	const id = "default.requiredMetadataKeyPairs"
	runRequests(t, id, []requestCase{
		{"all match exactly", `{"metadataPairs":{"a":"1","b":"x"}}`, withMetadata("a", "1", "b", "x"), true, "", `{"presentKeys":["a","b"],"operator":"all"}`},
		{"one differs", `{"metadataPairs":{"a":"1","b":"x"},"operator":"all"}`, withMetadata("a", "1", "b", "xy"), false, "", `{"missingKeys":["b"]}`},
		{"any matches", `{"metadataPairs":{"a":"1","b":"x"},"operator":"any"}`, withMetadata("b", "x"), true, "", ""},
		{"none matches", `{"metadataPairs":{"a":"1"},"operator":"none"}`, withMetadata("a", "2"), true, "", ""},
		{"none with a match", `{"metadataPairs":{"a":"1"},"operator":"none"}`, withMetadata("a", "1"), false, "", ""},
		{"numbers and booleans", `{"metadataPairs":{"a":1,"b":true}}`, withMetadata("a", "1", "b", "true"), true, "", ""},
		{"one of several values", `{"metadataPairs":{"a":["1","2"]}}`, withMetadata("a", "2"), true, "", ""},
		{"contains", `{"metadataPairs":{"a":["red","blue"]},"matchType":"contains"}`, withMetadata("a", "dark blue"), true, "", ""},
		{"contains none", `{"metadataPairs":{"a":["red","blue"]},"matchType":"contains"}`, withMetadata("a", "green"), false, "", ""},
		{"contains an element", `{"metadataPairs":{"a":"red"},"matchType":"contains"}`, withMetadata("a", `["red","blue"]`), true, "", ""},
		{"contains all", `{"metadataPairs":{"a":["red","blue"]},"matchType":"containsAll"}`, withMetadata("a", "blue and red"), true, "", ""},
		{"contains only one", `{"metadataPairs":{"a":["red","blue"]},"matchType":"containsAll"}`, withMetadata("a", "red"), false, "", ""},
		{"pattern", `{"metadataPairs":{"a":"^u-[0-9]+$"},"matchType":"regex"}`, withMetadata("a", "u-12"), true, "", ""},
		{"pattern without match", `{"metadataPairs":{"a":"^u-[0-9]+$"},"matchType":"regex"}`, withMetadata("a", "u-x"), false, "", ""},
		{"a missing key matches no pattern", `{"metadataPairs":{"a":".*"},"matchType":"regex"}`, withMetadata(), false, "", ""},
	})
	runRefusals(t, id, refusals{
		`{}`: ".metadataPairs: required", `{"metadataPairs":{"a":{}}}`: ".metadataPairs.a[0]: must be a string",
		`{"metadataPairs":{"a":"1"},"matchType":"like"}`: ".matchType: one of exact",
	})
	refuse(t, id, `{"metadataPairs":{"a":"(?=x)"},"matchType":"regex"}`, "metadataPairs.a must be a regular expression in RE2 syntax (no look-around")
	refuse(t, id, `{"metadataPairs":{}}`, "metadataPairs must have at least one pair")
}
