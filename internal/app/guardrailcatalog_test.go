package app

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
)

// Checks that call a service, run a model or search for personal data have the parameter timeout. The other
// built-in checks do not have it.
// Source: contract/dataplane.md 5.3 and 5.6 to 5.8.
func TestGuardrailChecks_HaveATimeoutWhereTheyTakeTime(t *testing.T) {
	t.Parallel()
	for _, d := range guardrailCatalog().Table().All() {
		if d.Unavailable != "" {
			continue
		}
		source, _, _ := strings.Cut(d.ID, ".")
		want := source != "default" || slices.Contains([]string{"default.webhook", "default.log", "default.jwt"}, d.ID)
		if got := slices.ContainsFunc(d.Params, func(p param.Param) bool { return p.Name == "timeout" }); got != want {
			t.Errorf("%s has a timeout: %v, want %v", d.ID, got, want)
		}
	}
}

// searchingChecks are the checks of the program that judge the words of a text, with parameters.
var searchingChecks = map[string]string{
	"gateway.pii":             `{"categories":["EMAIL_ADDRESS","PHONE_NUMBER","LOCATION_ADDRESS","NAME","IP_ADDRESS","CREDIT_CARD","SSN"],"redact":true}`,
	"gateway.secrets":         `{"redact":true}`,
	"gateway.moderateContent": `{"categories":["hate","violence"]}`,
	"gateway.language":        `{"language":["eng_Latn"]}`,
	"gateway.gibberish":       `{}`,
	"gateway.promptInjection": `{"timeout":300000}`,
}

// Each check that judges words ends on 10 MB of one word, and allocates a bounded multiple of its size.
func TestGuardrailChecks_EndOnATextOfOneWord(t *testing.T) { // not parallel: it counts allocated bytes
	if testing.Short() {
		t.Skip("reads 10 MB in each check")
	}
	const size, maxFactor = 10 << 20, 64
	catalog := guardrailCatalog()
	for id, parameters := range searchingChecks {
		for _, word := range []string{"a", "1", "é", "ab-"} {
			t.Run(id+" "+word, func(t *testing.T) {
				r := openCheck(t, catalog.Table(), id, parameters, func(p check.Params) (check.Runner, error) {
					known, _ := catalog.Find(id)
					return known.New(p, &check.Deps{Now: time.Now})
				})
				text := strings.Repeat(word, size/len(word))
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				defer cancel()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r.Run(ctx, &check.Input{Phase: guardrail.Input, Texts: []string{text}})
				runtime.ReadMemStats(&after)
				if n := (after.TotalAlloc - before.TotalAlloc) / size; ctx.Err() != nil || n > maxFactor {
					t.Errorf("ended with %v, allocated %d times the text, want at most %d", ctx.Err(), n, maxFactor)
				}
			})
		}
	}
}

// bodyChecks are the checks that read the body of a request or send it to a service, with parameters.
var bodyChecks = map[string]string{
	"default.addPrefix":              `{"prefix":"p"}`,
	"default.inlineImageUrls":        `{}`,
	"default.requestParametersCheck": `{"params":{"blockedKeys":["n"]}}`,
	"default.webhook":                `{"webhookURL":"https://hooks.example.com"}`,
	"default.modelWhitelist":         `{"models":["m"]}`,
	"default.modelRules":             `{"rules":{"defaults":["m"]}}`,
	"default.allowedRequestTypes":    `{"allowedTypes":["chatComplete"]}`,
	"default.requiredMetadataKeys":   `{"metadataKeys":["team"]}`,
}

// verdicts is a service that accepts everything.
type verdicts struct{}

// Call implements check.Services.
func (verdicts) Call(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
	return &check.ServiceResponse{Status: 200, Body: []byte(`{"verdict":true}`)}, nil
}

// Each check that reads the body ends on a body with 10 MB of one word, or on one of as many short messages.
func TestGuardrailChecks_EndOnALargeBody(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 10 MB in each check")
	}
	const size = 10 << 20
	message := `{"role":"user","content":"a"},`
	catalog := guardrailCatalog()
	for name, body := range map[string]string{
		"one word":      `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a", size) + `"}]}`,
		"many messages": `{"model":"m","messages":[` + strings.Repeat(message, size/len(message)) + message[:len(message)-1] + `]}`,
		"many members":  `{"model":"m","messages":[{"role":"user","content":"a"}]` + strings.Repeat(`,"a":"a"`, size/8) + `}`,
	} {
		for id, parameters := range bodyChecks {
			t.Run(id+" "+name, func(t *testing.T) {
				r := openCheck(t, catalog.Table(), id, parameters, func(p check.Params) (check.Runner, error) {
					known, _ := catalog.Find(id)
					return known.New(p, &check.Deps{Now: time.Now, Services: verdicts{}})
				})
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
				defer cancel()
				r.Run(ctx, &check.Input{Phase: guardrail.Input, Endpoint: "chatComplete", Provider: "openai", Model: "m", Texts: []string{"a"}, Body: []byte(body), Request: []byte(body), Metadata: map[string]string{"team": "red"}})
				if ctx.Err() != nil {
					t.Error("the check did not end")
				}
			})
		}
	}
}

// openCheck validates parameters as a saved guardrail does, and compiles the check.
func openCheck(t *testing.T, table *guardrail.Table, id, parameters string, compile func(check.Params) (check.Runner, error)) check.Runner {
	t.Helper()
	use := guardrail.Check{ID: id, Parameters: json.RawMessage(parameters)}
	if err := table.ValidateUse(&use, guardrail.Input, guardrail.Place{ID: "id", Params: "parameters"}); err != nil {
		t.Fatal(err)
	}
	p, err := check.ReadParams([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	r, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
