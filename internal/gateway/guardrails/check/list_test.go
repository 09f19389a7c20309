package check_test

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// TestList_HasTheChecksOfTheContract compares the table with contract/dataplane.md 5.6.
func TestList_HasTheChecksOfTheContract(t *testing.T) {
	t.Parallel()
	const in, out, both = "input", "output", "input output"
	want := map[string]string{
		"regexMatch": both, "regexReplace": both + " transformer", "sentenceCount": both, "wordCount": both, "characterCount": both, "contains": both,
		"endsWith": both, "alluppercase": both, "alllowercase": both, "isAllLowerCase": both, "jsonSchema": out, "jsonKeys": out, "containsCode": out,
		"validUrls": out, "notNull": out, "webhook": both, "log": out, "modelWhitelist": in + " textless", "modelwhitelist": in + " textless",
		"modelRules": in + " textless", "allowedRequestTypes": in + " textless", "requiredMetadataKeys": in + " textless",
		"requiredMetadataKeyPairs": in + " textless", "requestParametersCheck": in + " textless", "requestParams": in + " textless", "jwt": in + " textless",
		"addPrefix": in + " transformer", "inlineImageUrls": in + " transformer textless", "llmJudge": both + " paid",
	}
	ids := make(map[string]bool)
	for name, row := range want {
		c := find(t, name)
		ids[c.ID] = true
		if got := describe(&c); got != row {
			t.Errorf("%s: %s, want %s", name, got, row)
		}
	}
	for _, c := range check.List() {
		if !ids[c.ID] {
			t.Errorf("%s is not in this table", c.ID)
		}
	}
}

func describe(c *check.Check) string {
	var words []string
	for _, p := range c.Phases {
		words = append(words, string(p))
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{c.Transformer, "transformer"}, {c.Textless, "textless"}, {c.Paid, "paid"}} {
		if flag.set {
			words = append(words, flag.word)
		}
	}
	return strings.Join(words, " ")
}

// Each check returns a result for every body, token and metadata, and a body that a check writes is JSON.
func FuzzRequestChecks(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"tools":[{"type":"function","function":{"name":"f"}}],"system":"S"}`), "Bearer a.b.c", "chatComplete")
	f.Add([]byte(`{"input":"Hi","instructions":null}`), "eyJhbGciOiJub25lIn0.e30.", "createModelResponse")
	f.Add([]byte(`{"messages":[],"system":[]}`), "", "messages")
	f.Add([]byte(`{"prompt":["a",1]}`), "\xff", "complete")
	var runners []check.Runner
	for _, c := range []struct{ id, parameters string }{
		{"addPrefix", `{"prefix":"P"}`}, {"addPrefix", `{"prefix":"P","applyToRole":"system"}`}, {"addPrefix", `{"prefix":"P","applyToRole":"assistant","addToExisting":false}`},
		{"inlineImageUrls", `{}`}, {"requestParams", `{"tools":{"blockedTypes":["x"],"allowedFunctionNames":["f"]},"params":{"values":{"n":{"allowedValues":[1,null]}}}}`},
		{"jwt", `{"jwks":` + newSigner(f).keys + `}`}, {"allowedRequestTypes", `{}`}, {"modelRules", `{"rules":{"metadata":{"a":{"b":["c"]}}}}`},
		{"requiredMetadataKeyPairs", `{"metadataPairs":{"a":["b",1]},"matchType":"contains"}`},
	} {
		runners = append(runners, open(f, c.id, c.parameters, nil))
	}
	f.Fuzz(func(t *testing.T, body []byte, text, endpoint string) {
		original := slices.Clone(body)
		in := &check.Input{
			Phase: guardrail.Input, Body: body, Request: body, Texts: []string{text}, Endpoint: llm.Endpoint(endpoint), Model: text,
			Metadata: map[string]string{"a": text, "supported_endpoints": text}, Header: wire.Header{{Name: "authorization", Value: text}},
		}
		for _, r := range runners {
			if got := r.Run(t.Context(), in); got.Body != nil && jsonedit.Valid(body) && !jsonedit.Valid(got.Body) {
				t.Fatalf("%q became %q", body, got.Body)
			}
		}
		if !slices.Equal(original, body) {
			t.Fatalf("a check changed its input %q", original)
		}
	})
}
