package guardrail_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
)

// Every check takes what the contract says that it takes.
func TestChecksThatFit(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		`{"id":"default.regexMatch","parameters":{"rule":"^a+$","not":true}}`,
		`{"id":"regexMatch","parameters":{"rule":"a","failOnError":true},"name":"short","is_enabled":false}`,
		`{"id":"default.regexReplace","parameters":{"rule":"/[0-9]+/gi","redactText":"#"}}`,
		`{"id":"default.wordCount"}`,
		`{"id":"default.sentenceCount","parameters":{"minSentences":1,"maxSentences":2.5}}`,
		`{"id":"default.alllowercase","parameters":{}}`,
		`{"id":"default.jsonSchema","parameters":{"schema":{"type":"object","required":["a"]}}}`,
		`{"id":"default.contains","parameters":{"words":["a"],"operator":"none"}}`,
		`{"id":"default.containsCode","parameters":{"format":"C++"}}`,
		`{"id":"default.webhook","parameters":{"webhookURL":"https://hooks.example.com","headers":"{\"a\":\"b\"}","forwardHeaders":["x-team","x-gateway-trace-id"]}}`,
		`{"id":"default.log","parameters":{"logURL":"http://logs.example.com/x","headers":{"a":"b"}}}`,
		`{"id":"default.jwt","parameters":{"jwksUri":"https://id.example.com/jwks","headerKey":"Authorization","maxTokenAge":"1d","algorithms":["RS256"]}}`,
		`{"id":"default.modelwhitelist","parameters":{"models":["gpt-4o"]}}`,
		`{"id":"default.modelRules","parameters":{"rules":{"defaults":["a"],"metadata":{"team":{"search":["b"]}}}}}`,
		`{"id":"default.allowedRequestTypes","parameters":{"allowedTypes":"chatComplete, embed","blockedTypes":[]}}`,
		`{"id":"default.requiredMetadataKeyPairs","parameters":{"metadataPairs":{"a":"b"},"operator":"all","matchType":"regex"}}`,
		`{"id":"default.requestParametersCheck","parameters":{"params":{"values":{"n":{"allowedValues":[1,"x",true]}}}}}`,
		`{"id":"gateway.moderateContent","parameters":{"categories":["hate/threatening"]}}`,
		`{"id":"gateway.language","parameters":{"language":"eng_Latn"}}`,
		`{"id":"bedrock.guard","parameters":{"guardrailVersion":"1","guardrailId":"abc","credentials":{"awsRegion":"eu-west-1"},"timeout":5000}}`,
		`{"id":"acuvity.scan","parameters":{"toxic":true,"toxic_threshold":0.5}}`,
		`{"id":"zscaler.anything","parameters":{"policyId":17}}`,
		`{"id":"patronus.custom","parameters":{"profile":"judge:mine"}}`,
	} {
		if _, err := guardrail.Read([]byte("[" + c + "]")); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// A refusal names the place and the cure.
func TestChecksThatDoNot(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70_000)
	for list, want := range map[string]string{
		`{}`: "checks: a list of checks",
		`[]`: "checks: 1 to 50",
		`[` + strings.Repeat(`{"id":"default.notNull"},`, 50) + `{"id":"default.notNull"}]`: "checks: 1 to 50",
		`[{"id":"default.nothing"}]`: "checks[0].id: unknown check",
		`[{"id":""}]`:                "checks[0].id: unknown check",
		`[{"id":"zscaler."}]`:        "checks[0].id: unknown check",
		`[{"id":"default.notNull"},{"id":"default.endsWith"}]`:                                                              "checks[1].parameters.suffix: required",
		`[{"id":"default.notNull","parameters":[]}]`:                                                                        "checks[0].parameters: an object",
		`[{"id":"default.notNull","parameters":{"nott":true}}]`:                                                             "checks[0].parameters.nott: unknown parameter",
		`[{"id":"default.notNull","parameters":{"not":"yes"}}]`:                                                             "checks[0].parameters.not: true or false",
		`[{"id":"default.notNull","name":"` + long[:300] + `"}]`:                                                            "checks[0].name: must not exceed 255",
		`[{"id":"acuvity.scan","parameters":{"x":"` + long + `"}}]`:                                                         "checks[0].parameters: must not exceed 65536",
		`[{"id":"default.regexMatch","parameters":{"rule":"(?=a)"}}]`:                                                       "checks[0].parameters.rule: RE2",
		`[{"id":"default.regexMatch","parameters":{"rule":7}}]`:                                                             "checks[0].parameters.rule: 1 to 4096",
		`[{"id":"default.wordCount","parameters":{"minWords":-1}}]`:                                                         "checks[0].parameters.minWords: from 0",
		`[{"id":"default.contains","parameters":{"words":[],"operator":"any"}}]`:                                            "checks[0].parameters.words: a list of 1",
		`[{"id":"default.contains","parameters":{"words":["a",7],"operator":"any"}}]`:                                       "checks[0].parameters.words[1]: 1 to 1024",
		`[{"id":"default.contains","parameters":{"words":["a"],"operator":"some"}}]`:                                        "checks[0].parameters.operator: one of",
		`[{"id":"default.contains","parameters":{"words":["a"]}}]`:                                                          "checks[0].parameters.operator: required",
		`[{"id":"default.jsonSchema","parameters":{"schema":{"type":"objekt"}}}]`:                                           "checks[0].parameters.schema: a valid JSON Schema",
		`[{"id":"default.jsonSchema","parameters":{"schema":{"$ref":"https://example.com/s.json"}}}]`:                       "checks[0].parameters.schema: without external references",
		`[{"id":"default.jsonSchema","parameters":{"schema":{"$ref":"file:///etc/passwd"}}}]`:                               "checks[0].parameters.schema: without external references",
		`[{"id":"default.webhook","parameters":{"webhookURL":"ftp://x"}}]`:                                                  "checks[0].parameters.webhookURL: a URL",
		`[{"id":"default.webhook","parameters":{"webhookURL":"https://x.example","forwardHeaders":["Cookie"]}}]`:            "checks[0].parameters.forwardHeaders[0]: never forwards",
		`[{"id":"default.webhook","parameters":{"webhookURL":"https://x.example","forwardHeaders":["X-Gateway-Api-Key"]}}]`: "checks[0].parameters.forwardHeaders[0]: never forwards",
		`[{"id":"default.webhook","parameters":{"webhookURL":"https://x.example","headers":"no JSON"}}]`:                    "checks[0].parameters.headers: an object of strings",
		`[{"id":"default.jwt","parameters":{"headerKey":"a","maxTokenAge":"soon"}}]`:                                        "checks[0].parameters.maxTokenAge: a duration",
		`[{"id":"default.modelRules","parameters":{"rules":{"metadata":{"team":{"search":"b"}}}}}]`:                         "checks[0].parameters.rules.metadata.team.search: a list",
		`[{"id":"default.requestParams","parameters":{"params":{"values":{"n":{"allowed":[1]}}}}}]`:                         "checks[0].parameters.params.values.n.allowed: unknown parameter",
		`[{"id":"default.inlineImageUrls","parameters":{"maxSizeBytes":1.5}}]`:                                              "checks[0].parameters.maxSizeBytes: an integer",
		`[{"id":"gateway.language","parameters":{"language":["en"]}}]`:                                                      "checks[0].parameters.language[0]: eng_Latn",
		`[{"id":"mistral.moderateContent","parameters":{"categories":["rude"]}}]`:                                           "checks[0].parameters.categories[0]: one of",
		`[{"id":"patronus.custom"}]`:                                   "checks[0].parameters.profile: required",
		`[{"id":"azure.pii","parameters":{"timeout":0}}]`:              "checks[0].parameters.timeout: an integer",
		`[{"id":"default.regexReplace","parameters":{"rule":"/(/g"}}]`: "checks[0].parameters.rule: RE2",
	} {
		_, err := guardrail.Read([]byte(list))
		f := fault.From(err)
		path, text, _ := strings.Cut(want, ": ")
		if f == nil || f.Code != fault.InvalidParameter || f.Param != path || !strings.Contains(f.Text(), text) {
			t.Errorf("%.120s: %v, want %s", list, err, want)
		}
	}
}

// The table itself keeps the rules of its columns.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range guardrail.All() {
		for _, id := range append(k.Aliases, k.ID) {
			if seen[id] || !strings.Contains(id, ".") {
				t.Errorf("%q is duplicated, or names no source", id)
			}
			seen[id] = true
		}
		if len(k.Hooks) == 0 {
			t.Errorf("%s never runs", k.ID)
		}
	}
	if k, ok := guardrail.Find("wordCount"); !ok || k.ID != "default.wordCount" || !slices.Equal(k.Hooks, []guardrail.Hook{guardrail.Input, guardrail.Output}) {
		t.Errorf("a built-in check is not found by its short name: %v", k)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	const plain = `{"deny":false,"async":false,"sequential":false,"on_success":{"feedback":{"value":5,"weight":1,"metadata":""}},"on_fail":{"feedback":{"value":-5,"weight":1,"metadata":""}}}`
	denied := strings.Replace(plain, `"deny":false`, `"deny":true`, 1)
	for sent, want := range map[string]string{
		`{}`:                                   plain,
		`{"deny":true}`:                        denied,
		`{"onFail":"block"}`:                   denied,
		`{"onFail":"deny","deny":false}`:       denied,
		`{"onFail":"log"}`:                     plain,
		`{"on_fail":"warn","on_success":null}`: plain,
		`{"on_fail":"deny","on_success":"continue"}`: denied,
		`{"onFail":"warn","message":"not here"}`:     strings.TrimSuffix(plain, "}") + `,"message":"not here"}`,
		`{"async":true,"sequential":true,"on_fail":{"feedback":{"value":-10,"weight":0.5,"metadata":{"a":"b"}}},"on_success":{"feedback":{}}}`: `{"deny":false,"async":true,"sequential":true,"on_success":{"feedback":{"value":5,"weight":1,"metadata":""}},"on_fail":{"feedback":{"value":-10,"weight":0.5,"metadata":{"a":"b"}}}}`,

		`[]`:                                    "actions: an object",
		`null`:                                  "actions: an object",
		`{"onfail":"block"}`:                    "actions.onfail: unknown field",
		`{"deny":"yes"}`:                        "actions.deny: true or false",
		`{"on_fail":"stop"}`:                    "actions.on_fail: deny, block",
		`{"on_success":"deny"}`:                 "actions.on_success: deny, block",
		`{"on_fail":{"feedback":{"value":11}}}`: "actions.on_fail.feedback.value: between -10 and 10",
		`{"on_fail":{"feedback":{"weight":2}}}`: "actions.on_fail.feedback.weight: between 0 and 1",
		`{"on_fail":{"feedback":{"metadata":[]}}}`: "actions.on_fail.feedback.metadata: an object or a string",
		`{"on_fail":7}`: "actions.on_fail: an object with feedback",
		`{"message":"` + strings.Repeat("a", 2000) + `"}`: "actions.message: at most 1024",
	} {
		a, err := guardrail.ReadActions([]byte(sent))
		if f := fault.From(err); f != nil {
			path, text, _ := strings.Cut(want, ": ")
			if f.Param != path || !strings.Contains(f.Text(), text) {
				t.Errorf("%.80s: %v, want %s", sent, err, want)
			}
			continue
		}
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%.80s: %s, %v\nwant %s", sent, got, err, want)
		}
	}
}

func TestSealed(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("a sealing key for this test"))
	if err != nil {
		t.Fatal(err)
	}
	var g guardrail.Guardrail
	if err := g.Seal(box, "r1", []byte(`[{"id":"default.webhook","parameters":{"webhookURL":"https://hooks.example.com/a","headers":{"a":"b"}},"is_enabled":false}]`)); err != nil {
		t.Fatal(err)
	}
	checks, err := g.Open(box, "r1")
	if err != nil || len(checks) != 1 || checks[0].Enabled() || fmt.Sprint(checks[0].URLs()) != "map[parameters.webhookURL:https://hooks.example.com/a]" {
		t.Errorf("%v, %v", checks, err)
	}
	if _, err := g.Open(box, "r2"); err == nil {
		t.Error("the checks of one record open as those of another")
	}
}

// Whatever is sent is read or refused, and what was read is read again.
func FuzzRead(f *testing.F) {
	f.Add(`[{"id":"default.regexReplace","parameters":{"rule":"/a/g"}}]`)
	f.Add(`[{"id":"default.jsonSchema","parameters":{"schema":{"$ref":"#"}}}]`)
	f.Add(`[{"id":"default.requestParams","parameters":{"params":{"values":{"a":null}}}}]`)
	f.Fuzz(func(t *testing.T, list string) {
		checks, err := guardrail.Read([]byte(list))
		if err != nil {
			if fault.From(err).Code != fault.InvalidParameter {
				t.Errorf("%v", err)
			}
			return
		}
		again, err := json.Marshal(checks)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := guardrail.Read(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
