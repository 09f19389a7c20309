package partner_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/kernel/fault"
)

func table() *guardrail.Table {
	var rows []guardrail.Definition
	for _, c := range partner.List() {
		rows = append(rows, c.Definition)
	}
	return guardrail.NewTable(rows)
}

func TestAllPartnersOfTheContractAreListed(t *testing.T) {
	ids := strings.Fields(`azure.contentSafety azure.pii azure.shieldPrompt azure.protectedMaterial bedrock.guard mistral.moderateContent acuvity.scan
		aporia.validateProject crowdstrike-aidr.guardChatCompletions exa.online f5-guardrails.scan javelin.guardrails lakera.guard lasso.classify
		pangea.textGuard pangea.pii panw-prisma-airs.intercept pillar.scanPrompt pillar.scanResponse promptfoo.guard promptfoo.pii promptfoo.harm
		promptsecurity.protectPrompt promptsecurity.protectResponse sydelabs.sydeguard walledai.walledprotect zscaler.* zscaler akto.* cato.* tavily.*
		patronus.custom patronus.phi patronus.pii patronus.isConcise patronus.isHelpful patronus.isPolite patronus.noApologies patronus.noGenderBias
		patronus.noRacialBias patronus.retrievalAnswerRelevance patronus.retrievalHallucination patronus.toxicity qualifire.policy
		qualifire.contentModeration qualifire.pii qualifire.promptInjections qualifire.hallucinations qualifire.grounding qualifire.toolUseQuality
		alibaba-cloud-ai.* singulr.*`)
	for _, id := range ids {
		if _, ok := table().Find(id); !ok {
			t.Errorf("no check %s", id)
		}
	}
	for _, c := range partner.List() {
		if !c.Paid {
			t.Errorf("%s is not marked as paid", c.ID)
		}
	}
}

func TestParametersOfPartnersAreCheckedWhenSaved(t *testing.T) {
	for checks, want := range map[string]string{
		`{"id":"alibaba-cloud-ai.*"}`:                                                                   ".id: cannot run",
		`{"id":"singulr"}`:                                                                              ".id: not public",
		`{"id":"zscaler.*","parameters":{}}`:                                                            ".parameters.policyId: is required",
		`{"id":"zscaler","parameters":{"policyId":1,"timeout":0}}`:                                      ".parameters.timeout: integer",
		`{"id":"zscaler","parameters":{"policyId":1,"cost_per_call":-1}}`:                               ".parameters.cost_per_call: number",
		`{"id":"zscaler","parameters":{"policyId":1,"forwardHeaders":["authorization"]}}`:               ".parameters.forwardHeaders[0]: omitted",
		`{"id":"zscaler","parameters":{"policyId":1,"credentials":{}}}`:                                 ".parameters.credentials.apiKey: is required",
		`{"id":"zscaler","parameters":{"policyId":1,"credentials":{"apiKey":"a\nb"}}}`:                  ".parameters.credentials.apiKey: line breaks",
		`{"id":"zscaler","parameters":{"policyId":1,"credentials":{"apiKey":"k","baseUrl":"ftp://x"}}}`: ".parameters.credentials.baseUrl: URL",
		`{"id":"pangea.pii","parameters":{"credentials":{"apiKey":"k","domain":"x.example/path"}}}`:     ".parameters.credentials.domain: host name",
		`{"id":"pangea.pii","parameters":{"credentials":{"apiKey":"k","domain":"u@x.example"}}}`:        ".parameters.credentials.domain: host name",
		`{"id":"azure.contentSafety","parameters":{"credentials":{"contentSafety":{"apiKey":"k"}}}}`:    ".parameters.credentials.contentSafety.resourceName: is required",
		`{"id":"azure.contentSafety","parameters":{"severity":8}}`:                                      ".parameters.severity: number",
		`{"id":"mistral.moderateContent","parameters":{"categories":["other"]}}`:                        ".parameters.categories[0]: one of",
		`{"id":"sydelabs.sydeguard","parameters":{"toxicity_threshold":1.5}}`:                           ".parameters.toxicity_threshold: number",
		`{"id":"pillar.scanResponse","parameters":{"scanners":["prompt_injection"]}}`:                   ".parameters.scanners[0]: one of",
	} {
		_, err := table().Read([]byte("[" + checks + "]"))
		path, text, _ := strings.Cut(want, ": ")
		f := fault.From(err)
		if err == nil || f.Code != fault.InvalidParameter || f.Param != "checks[0]"+path || !strings.Contains(f.Text(), text) {
			t.Errorf("%s: %v (%v), want %s", checks, err, f, want)
		}
	}
}

func TestChecksRunOnTheirPhasesOnly(t *testing.T) {
	c := guardrail.Check{ID: "patronus.toxicity"}
	if err := table().ValidateUse(&c, guardrail.Input, guardrail.Place{ID: "c.id", Params: "p"}); err == nil {
		t.Error("a check of responses may run on requests")
	}
}

// minimal is a spec that compiles; REPLACE is where a test puts an invalid member.
const minimal = `{"partner":"x","source":"s","date":"2026-11-28","checks":[{"id":"c","phases":["input"],"send":"joined",
	"credentials":{"key":{"form":"secret","secret":true}},"request":{"method":"POST","url":"https://x.example/p","header":{"k":"{credentials.key}"},"body":{"a":{"$":"text"}}},
	"expect":[{"path":"a","type":"string"}],"fails":{"path":"a","is":"bad"}REPLACE}]}`

func TestInvalidSpecsAreRefused(t *testing.T) {
	if _, err := load(strings.Replace(minimal, "REPLACE", "", 1)); err != nil {
		t.Fatal(err)
	}
	for member, want := range map[string]string{
		`,"phases":["other"]`:                                    "unknown phase",
		`,"send":"other"`:                                        "send must be",
		`,"on_error":"maybe"`:                                    "on_error",
		`,"expect":[]`:                                           "expect is required",
		`,"expect":[{"path":"a","type":"text"}]`:                 "unknown type",
		`,"hook":"none"`:                                         "unknown hook",
		`,"other":1`:                                             "unknown field",
		`,"fails":{"is":"x","found":true}`:                       "one operator",
		`,"fails":{"path":"a["}`:                                 "path",
		`,"redact":{"texts":"a"}`:                                "each or batch",
		`,"parameters":{"a":{"form":"other"}}`:                   "unknown form",
		`,"parameters":{"a":{"form":"secret","secret":true}}`:    "only credentials may be secret",
		`,"parameters":{"a":{"form":"boolean","default":"yes"}}`: "default",
		`,"request":{"method":"POST","url":"http://x.example"}`:  "https",
		`,"request":{"method":"POST","url":"https://x.example/{credentials.key}"}`:              "credential",
		`,"request":{"method":"POST","url":"https://x.example","body":{"$":"credentials.key"}}`: "credential",
		`,"request":{"method":"POST","url":"https://{param.a"}`:                                 "brace",
		`,"request":{"method":"POST","url":"https://x.example","body":{"$":"other"}}`:           "unknown value",
	} {
		if _, err := load(strings.Replace(minimal, "REPLACE", member, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", member, err, want)
		}
	}
	for _, source := range []string{`{}`, `{"partner":"x","source":"s","date":"d"}`, `{"partner":"x","source":"s","date":"d","unavailable":"u","checks":[{}]}`, `[]`, `{} {}`} {
		if _, err := load(source); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

func load(source string) (int, error) {
	list, err := partner.Load(fstest.MapFS{"specs/x.json": {Data: []byte(source)}})
	return len(list), err
}

func TestListOfPartnersIsCurrent(t *testing.T) {
	list, err := partner.Partners()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("# Partner checks\n\nWritten by `go test ./internal/gateway/guardrails/partner -update`. Replaces: the check can replace texts or add to the request.\n" +
		"Limit: characters of a text, and texts, for one call; longer texts go in overlapping fragments. On error: the verdict of a check whose\n" +
		"service failed, where neither `failOnError` nor an enforced guardrail decides. Sources were read on the date; the transcripts in\n`testdata` show the calls.\n\n" +
		"| Check | Phases | Replaces | Limit | Timeout | On error | Source | Date |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range list {
		if p.Unavailable != "" {
			fmt.Fprintf(&b, "| `%s` | refused when saved: %s | - | - | - | - | %s | %s |\n", p.ID, p.Unavailable, p.Source, p.Date)
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", p.ID, phases(p.Phases), yesNo(p.Replaces), limitText(p), p.Timeout, onError(p), p.Source, p.Date)
	}
	if *update {
		if err := os.WriteFile("PARTNERS.md", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("PARTNERS.md")
	if err != nil || !bytes.Equal(want, b.Bytes()) {
		t.Errorf("PARTNERS.md is not current (%v); run the tests with -update", err)
	}
}

func phases(list []guardrail.Phase) string {
	var out []string
	for _, p := range list {
		out = append(out, string(p))
	}
	return strings.Join(out, ", ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func limitText(p partner.Partner) string {
	switch {
	case p.MaxTexts > 0:
		return fmt.Sprintf("%d, %d texts", p.MaxChars, p.MaxTexts)
	case p.MaxChars > 0:
		return strconv.Itoa(p.MaxChars)
	}
	return "-"
}

func onError(p partner.Partner) string {
	if p.OnError == "closed" {
		return "fails"
	}
	return "passes"
}

// addressName matches the names of parameters that look like addresses.
var addressName = regexp.MustCompile(`(?i)(ur[il]|link|host|domain|endpoint|base|address)$`)

// A parameter that is an address has the form of one, so that saving a guardrail can reject a private
// address.
func TestParameters_AddressesHaveTheirForm(t *testing.T) {
	t.Parallel()
	forms, err := partner.ParamForms()
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range forms {
		if addressName.MatchString(name) && form != "link" && form != "host" && name != "azure.pii domain" && name != "acuvity.scan malicious_url" {
			t.Errorf("%s has the form %s", name, form)
		}
	}
	if len(forms) < 50 {
		t.Errorf("%d parameters", len(forms))
	}
}
