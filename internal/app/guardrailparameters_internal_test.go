package app

import (
	"encoding/json"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/kernel/fault"
)

// Parameters that cannot work are rejected with their field when a guardrail is saved.
func TestCatalogue_RejectsImpossibleParameters(t *testing.T) {
	t.Parallel()
	table := guardrailCatalog().Table()
	for _, c := range []struct{ id, parameters, path string }{
		// ranges
		{"default.wordCount", `{"minWords":5,"maxWords":4}`, ".maxWords"},
		{"default.wordCount", `{"minWords":1,"maxWords":0}`, ".maxWords"},
		{"default.wordCount", `{"minWords":100000}`, ".maxWords"},
		{"default.wordCount", `{"minWords":-1}`, ".minWords"},
		{"default.sentenceCount", `{"minSentences":2,"maxSentences":1}`, ".maxSentences"},
		{"default.characterCount", `{"maxCharacters":1e12}`, ".maxCharacters"},
		{"default.characterCount", `{"minCharacters":"5"}`, ".minCharacters"},
		{"default.webhook", `{"webhookURL":"https://hooks.example.com","timeout":0}`, ".timeout"},
		{"default.webhook", `{"webhookURL":"https://hooks.example.com","timeout":300001}`, ".timeout"},
		{"default.inlineImageUrls", `{"maxSizeBytes":0}`, ".maxSizeBytes"},
		{"default.inlineImageUrls", `{"timeoutMs":0}`, ".timeoutMs"},
		{"default.jwt", `{"jwksUri":"https://issuer.example.com/keys","clockTolerance":-1}`, ".clockTolerance"},
		{"default.jwt", `{"jwksUri":"https://issuer.example.com/keys","maxTokenAge":"soon"}`, ".maxTokenAge"},
		{"default.jwt", `{"jwksUri":"https://issuer.example.com/keys","maxTokenAge":"999999999y"}`, ".maxTokenAge"},
		{"default.jwt", `{"jwksUri":"https://issuer.example.com/keys","cacheMaxAge":1e12}`, ".cacheMaxAge"},
		// thresholds
		{"gateway.promptInjection", `{"threshold":1.01}`, ".threshold"},
		{"gateway.promptInjection", `{"threshold":-0.01}`, ".threshold"},
		{"gateway.llmJudge", `{"model":"gpt-4o","rubric":"polite","threshold":2}`, ".threshold"},
		{"acuvity.scan", `{"toxic_threshold":1.5}`, ".toxic_threshold"},
		{"acuvity.scan", `{"prompt_injection_threshold":-1}`, ".prompt_injection_threshold"},
		{"sydelabs.sydeguard", `{"evasion_threshold":2}`, ".evasion_threshold"},
		{"azure.contentSafety", `{"severity":8}`, ".severity"},
		{"azure.contentSafety", `{"severity":-1}`, ".severity"},
		{"lakera.guard", `{"cost_per_call":-1}`, ".cost_per_call"},
		// patterns
		{"default.regexMatch", `{"rule":"(?=a)"}`, ".rule"},
		{"default.regexMatch", `{"rule":"(a)\\1"}`, ".rule"},
		{"default.regexMatch", `{"rule":"("}`, ".rule"},
		{"default.regexMatch", `{"rule":""}`, ".rule"},
		{"default.regexMatch", `{"rule":"a{1001}"}`, ".rule"},
		{"default.regexReplace", `{"rule":"/[/g"}`, ".rule"},
		{"default.requiredMetadataKeyPairs", `{"metadataPairs":{"team":"("},"matchType":"regex"}`, ".metadataPairs.team"},
		{"default.jwt", `{"jwksUri":"https://issuer.example.com/keys","claimValues":{"sub":{"values":"(?=a)","matchType":"regex"}}}`, ".claimValues.sub.values"},
		// schemas
		{"default.jsonSchema", `{"schema":{"type":"objekt"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$ref":"https://example.com/s.json"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$ref":"//example.com/s.json"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$schema":"https://example.com/meta.json"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$id":"https://example.com/s.json","properties":{"a":{"$ref":"other.json"}}}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$dynamicRef":"http://169.254.169.254/latest"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"properties":{"a":{"pattern":"(?=a)"}}}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"minLength":-1}}`, ".schema"},
		{"default.jsonSchema", `{"schema":{"$ref":"#/missing"}}`, ".schema"},
		{"default.jsonSchema", `{"schema":"{}"}`, ".schema"},
	} {
		err := table.Validate(&guardrail.Check{ID: c.id, Parameters: json.RawMessage(c.parameters)}, guardrail.Place{ID: "c.id", Params: "c.parameters"})
		if f := fault.From(err); err == nil || f.Code != fault.InvalidParameter || f.Param != "c.parameters"+c.path {
			t.Errorf("%s %s: %v, want %s", c.id, c.parameters, err, c.path)
		}
	}
}

// Zero and false are values as any other: they are accepted where a range contains them.
func TestCatalogue_AcceptsZeroAndFalse(t *testing.T) {
	t.Parallel()
	table := guardrailCatalog().Table()
	for id, parameters := range map[string]string{
		"default.wordCount":       `{"minWords":0,"maxWords":0,"not":false,"failOnError":false}`,
		"default.characterCount":  `{"maxCharacters":0}`,
		"default.jwt":             `{"jwksUri":"https://issuer.example.com/keys","clockTolerance":0,"cacheMaxAge":0,"introspectCacheMaxAge":0}`,
		"gateway.promptInjection": `{"threshold":0}`,
		"gateway.llmJudge":        `{"model":"gpt-4o","rubric":"polite","threshold":0}`,
		"azure.contentSafety":     `{"severity":0,"cost_per_call":0}`,
		"acuvity.scan":            `{"toxic":false,"toxic_threshold":0}`,
	} {
		if err := table.Validate(&guardrail.Check{ID: id, Parameters: json.RawMessage(parameters)}, guardrail.Place{ID: "c.id", Params: "p"}); err != nil {
			t.Errorf("%s %s: %v", id, parameters, err)
		}
	}
}
