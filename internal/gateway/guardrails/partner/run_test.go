package partner_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/kernel/wire"
)

// stub is services in memory.
type stub func(ctx context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error)

func (s stub) Call(ctx context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
	return s(ctx, r)
}

// returns are services that respond with a body.
func returns(status int, body string) stub {
	return func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		return &check.ServiceResponse{Status: status, Body: []byte(body)}, nil
	}
}

func find(t testing.TB, id string) check.Check {
	t.Helper()
	list := partner.List()
	i := slices.IndexFunc(list, func(c check.Check) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no check %q", id)
	}
	return list[i]
}

const azureParameters = `{"cost_per_call":0.001,"credentials":{"contentSafety":{"resourceName":"r","apiKey":"test-key"}}}`

func TestTextsAboveALimitGoInOverlappingFragmentsAndTheWorstVerdictCounts(t *testing.T) {
	long := strings.Repeat("harmless text, ", 1000) + "the bad part" + strings.Repeat(", more text", 1000)
	var mu sync.Mutex
	calls, seen := 0, 0
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		var body struct{ Text string }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return nil, err
		}
		severity := 0
		mu.Lock()
		defer mu.Unlock()
		calls++
		if len(body.Text) > 10_000 {
			t.Errorf("a text has %d characters", len(body.Text))
		}
		if strings.Contains(body.Text, "the bad part") {
			severity = 4
			seen++
		}
		return &check.ServiceResponse{Status: 200, Body: fmt.Appendf(nil, `{"categoriesAnalysis":[{"category":"Hate","severity":%d}]}`, severity)}, nil
	})
	for _, text := range []string{long, strings.ReplaceAll(long, "the bad part", "the good part")} {
		calls, seen = 0, 0
		res := open(t, find(t, "azure.contentSafety"), azureParameters, &check.Deps{Services: s}).Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{text}})
		if bad := strings.Contains(text, "bad"); res.Error != nil || res.Verdict == bad || bad && seen == 0 {
			t.Errorf("verdict %v, error %v", res.Verdict, res.Error)
		}
		if calls < 2 || res.CostNano != int64(calls)*1_000_000 {
			t.Errorf("cost %d for %d calls", res.CostNano, calls)
		}
	}
}

func TestManyTextsGoInSeveralCallsAndEachIsRedacted(t *testing.T) {
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		var body struct {
			AnalysisInput struct {
				Documents []struct{ ID, Text string }
			}
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return nil, err
		}
		docs := body.AnalysisInput.Documents
		if len(docs) > 5 {
			t.Errorf("%d documents in a call", len(docs))
		}
		var out []map[string]any
		for _, d := range docs {
			out = append(out, map[string]any{"id": d.ID, "entities": []any{map[string]any{"category": "Person"}}, "redactedText": strings.ReplaceAll(d.Text, "Jane", "****")})
		}
		raw, err := json.Marshal(map[string]any{"results": map[string]any{"documents": out}})
		return &check.ServiceResponse{Status: 200, Body: raw}, err
	})
	texts := []string{"", strings.Repeat("word ", 2000) + "Jane"}
	for i := range 12 {
		texts = append(texts, fmt.Sprintf("Jane has number %d. Jane!", i))
	}
	r := open(t, find(t, "azure.pii"), `{"redact":true,"credentials":{"pii":{"resourceName":"r","apiKey":"test-key"}}}`, &check.Deps{Services: s})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: texts})
	if !res.Verdict || res.Error != nil {
		t.Fatalf("verdict %v, error %v", res.Verdict, res.Error)
	}
	for i, got := range apply(texts, res.Edits) {
		if want := strings.ReplaceAll(texts[i], "Jane", "****"); got != want {
			t.Errorf("text %d: %q, want %q", i, got, want)
		}
	}
}

func TestChecksOfConversationsAlsoReceiveTextsOutsideOfMessages(t *testing.T) {
	var sent string
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		sent = string(r.Body)
		return &check.ServiceResponse{Status: 200, Body: []byte(`{"violations_detected":false}`)}, nil
	})
	r := open(t, find(t, "lasso.classify"), `{"credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: s})
	r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"hello", "part", `{"to":"jane"}`},
		Request: []byte(`{"messages":[{"role":"user","content":"hello"},{"role":"user","content":[{"type":"text","text":"part"},{"type":"text","text":"other"}]},{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"to\":\"jane\"}"}}]}]}`)})
	const want = `{"messageType":"PROMPT","messages":[{"content":"hello","role":"user"},{"content":"part\nother","role":"user"},{"content":"{\"to\":\"jane\"}","role":"user"}]}`
	if sent != want {
		t.Errorf("body %s, want %s", sent, want)
	}
}

func TestAFailureDecidesOverAnError(t *testing.T) {
	var n atomic.Int32
	s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		if n.Add(1) == 1 {
			return &check.ServiceResponse{Status: 200, Body: []byte(`{"action":"GUARDRAIL_INTERVENED"}`)}, nil
		}
		return nil, errors.New("refused")
	})
	r := open(t, find(t, "bedrock.guard"), `{"guardrailId":"g","guardrailVersion":"1","redact":true,"credentials":{"awsRegion":"eu-west-1","awsAccessKeyId":"k","awsSecretAccessKey":"test-key"}}`, &check.Deps{Services: s})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"a", "b"}})
	if res.Verdict || res.Error != nil {
		t.Errorf("verdict %v, error %v; want a failure", res.Verdict, res.Error)
	}
}

func TestBreakerStopsCallsOfAnAddressThatFails(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	calls, status := 0, 503
	s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		calls++
		return &check.ServiceResponse{Status: status, Body: []byte(`{"action":"ALLOW"}`)}, nil
	})
	zscaler := find(t, "zscaler.executePolicy")
	runner := func(host string) check.Runner {
		return open(t, zscaler, `{"policyId":1,"credentials":{"apiKey":"test-key","baseUrl":"https://`+host+`"}}`, &check.Deps{Services: s, Now: func() time.Time { return now }})
	}
	in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
	r := runner("breaker.example")
	run := func() string {
		if res := r.Run(context.Background(), in); res.Error != nil {
			return res.Error.Name
		}
		return ""
	}
	for range partner.BreakerFailures {
		if got := run(); got != "HttpError" {
			t.Fatalf("error %q, want HttpError", got)
		}
	}
	if got := run(); got != "ServiceUnavailable" || calls != partner.BreakerFailures {
		t.Errorf("error %q after %d calls, want an open breaker", got, calls)
	}
	if res := runner("other.example").Run(context.Background(), in); res.Error == nil || res.Error.Name != "HttpError" {
		t.Errorf("another address: %v, want HttpError", res.Error)
	}
	now = now.Add(partner.BreakerOpenTime)
	if got := run(); got != "HttpError" {
		t.Errorf("error %q, want one call that tries the service", got)
	}
	if got := run(); got != "ServiceUnavailable" {
		t.Errorf("error %q, want the breaker open again", got)
	}
	now, status = now.Add(partner.BreakerOpenTime), 200
	for range 2 {
		if got := run(); got != "" {
			t.Errorf("error %q, want none", got)
		}
	}
}

func TestCallsThatTheCallerEndsDoNotOpenTheBreaker(t *testing.T) {
	calls := 0
	s := stub(func(ctx context.Context, _ *check.ServiceRequest) (*check.ServiceResponse, error) {
		calls++
		<-ctx.Done()
		return nil, ctx.Err()
	})
	const parameters = `{"policyId":1,"timeout":1,"credentials":{"apiKey":"test-key","baseUrl":"https://slow.example"}}`
	r := open(t, find(t, "zscaler.executePolicy"), parameters, &check.Deps{Services: s})
	in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
	for range partner.BreakerFailures + 2 {
		res := r.Run(context.Background(), in)
		if res.Error == nil || res.Error.Name != "TimeoutError" {
			t.Fatalf("error %v, want TimeoutError", res.Error)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for range partner.BreakerFailures + 2 {
		r.Run(ended, in)
	}
	if calls != 2*(partner.BreakerFailures+2) {
		t.Errorf("%d calls, want no open breaker", calls)
	}
}

func TestResultsNeverContainCredentials(t *testing.T) {
	in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
	for name, s := range map[string]stub{
		"response": returns(200, `{"action":"ALLOW","echo":"Bearer test\"key"}`),
		"status":   returns(401, `{"message":"bad key test\"key"}`),
		"error": func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
			return nil, errors.New("dial with " + r.Header.Get("authorization"))
		},
		"garbage": returns(200, `test"key`),
	} {
		r := open(t, find(t, "zscaler.executePolicy"), `{"policyId":1,"credentials":{"apiKey":"test\"key","baseUrl":"https://echo.example"}}`, &check.Deps{Services: s})
		res := r.Run(context.Background(), in)
		raw, err := json.Marshal([]any{res.Data, res.Log, res.Error})
		if err != nil || strings.Contains(string(raw), "test") {
			t.Errorf("%s: %s %v", name, raw, err)
		}
	}
}

func TestMissingCredentialsAreAnErrorThatNamesTheField(t *testing.T) {
	for id, want := range map[string]struct {
		parameters, message string
		verdict, decides    bool
	}{
		"zscaler.executePolicy":      {`{"policyId":1}`, "parameters.credentials.apiKey is required", false, false},
		"panw-prisma-airs.intercept": {`{}`, "parameters.credentials.AIRS_API_KEY is required", true, true},
		"lasso.classify":             {`{}`, "parameters.credentials.apiKey is required", false, true},
		"azure.contentSafety":        {`{}`, "credentials need apiKey", true, true},
		"acuvity.scan":               {`{"credentials":{"apiKey":"no-token"}}`, "token with three parts", false, false},
	} {
		r := open(t, find(t, id), want.parameters, &check.Deps{Services: returns(200, `{}`)})
		res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}})
		if res.Error == nil || !strings.Contains(res.Error.Message, want.message) || res.Verdict != want.verdict || res.ErrorDecides != want.decides {
			t.Errorf("%s: error %v, verdict %v, decides %v", id, res.Error, res.Verdict, res.ErrorDecides)
		}
	}
}

func TestTextsWithoutContentAreNotSent(t *testing.T) {
	s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		t.Error("a call was made")
		return nil, errors.New("unexpected")
	})
	r := open(t, find(t, "azure.contentSafety"), azureParameters, &check.Deps{Services: s})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"", " \n"}})
	if !res.Verdict || res.Error != nil || res.CostNano != 0 {
		t.Errorf("verdict %v, error %v, cost %d", res.Verdict, res.Error, res.CostNano)
	}
}

func TestChecksWithoutServicesReturnAnError(t *testing.T) {
	res := open(t, find(t, "azure.contentSafety"), azureParameters, &check.Deps{}).Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}})
	if res.Error == nil || !res.Verdict || !res.ErrorDecides {
		t.Errorf("result %+v, want an error that passes", res)
	}
}

func TestForwardedHeadersReachTheServiceWithoutCredentials(t *testing.T) {
	var got wire.Header
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		got = r.Header
		return &check.ServiceResponse{Status: 200, Body: []byte(`{"action":"ALLOW"}`)}, nil
	})
	r := open(t, find(t, "zscaler.executePolicy"), `{"policyId":1,"forwardHeaders":["x-tenant","x-none"],"credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: s})
	in := &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}
	in.Header.Set("x-tenant", "t1")
	in.Header.Set("authorization", "Bearer of-the-client")
	r.Run(context.Background(), in)
	if got.Get("x-tenant") != "t1" || got.Has("x-none") || got.Get("authorization") != "Bearer test-key" {
		t.Errorf("header %v", got)
	}
}

func TestTokensOfEntraAreCachedUntilTheyEnd(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	tokens, status := 0, 200
	var authorization string
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		if !strings.HasPrefix(r.URL, "https://login.microsoftonline.com/tenant-1/") {
			authorization = r.Header.Get("authorization")
			return &check.ServiceResponse{Status: 200, Body: []byte(`{"categoriesAnalysis":[]}`)}, nil
		}
		form, err := url.ParseQuery(string(r.Body))
		if err != nil || form.Get("client_secret") != "p&ss" || form.Get("scope") != "https://cognitiveservices.azure.com/.default" {
			t.Errorf("form %v %v", form, err)
		}
		tokens++
		return &check.ServiceResponse{Status: status, Body: fmt.Appendf(nil, `{"access_token":"token-%d","expires_in":3600}`, tokens)}, nil
	})
	const parameters = `{"credentials":{"contentSafety":{"resourceName":"r","azureAuthMode":"entra","tenantId":"tenant-1","clientId":"c","clientSecret":"p&ss"}}}`
	azure := find(t, "azure.contentSafety")
	run := func() *check.Error {
		r := open(t, azure, parameters, &check.Deps{Services: s, Now: func() time.Time { return now }})
		res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}})
		return res.Error
	}
	for range 2 {
		if err := run(); err != nil || authorization != "Bearer token-1" {
			t.Fatalf("error %v, authorization %q", err, authorization)
		}
	}
	now = now.Add(time.Hour)
	if err := run(); err != nil || authorization != "Bearer token-2" || tokens != 2 {
		t.Errorf("error %v, authorization %q, %d tokens", err, authorization, tokens)
	}
	now, status = now.Add(time.Hour), 401
	if err := run(); err == nil || !strings.Contains(err.Message, "status 401") {
		t.Errorf("error %v, want the status of the token service", err)
	}
}

func TestAcuvityTokensThatAreNotUsableAreAnError(t *testing.T) {
	part := base64.RawURLEncoding.EncodeToString
	for _, key := range []string{"a.b.c", "a." + part([]byte(`{}`)) + ".c", "a." + part([]byte(`{"opaque":{"apex-url":"file:///etc"}}`)) + ".c", "a." + part([]byte(`[]`)) + ".c"} {
		r := open(t, find(t, "acuvity.scan"), `{"credentials":{"apiKey":"`+key+`"}}`, &check.Deps{Services: returns(200, `{}`)})
		if res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}); res.Error == nil {
			t.Errorf("%s: no error", key)
		}
	}
}

func TestALargeResponseIsAnErrorOrIsNotShown(t *testing.T) {
	big := `{"action":"ALLOW","detectorResponses":"` + strings.Repeat("x", 100_000) + `"}`
	r := open(t, find(t, "zscaler.executePolicy"), `{"policyId":1,"credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: returns(200, big)})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}})
	raw, err := json.Marshal(res.Data)
	if err != nil || len(raw) > 1000 || !res.Verdict {
		t.Errorf("verdict %v, %d bytes of data, %v", res.Verdict, len(raw), err)
	}
}

func TestRealServersThatFailAreErrors(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"action":`))
		},
		"html":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) },
		"empty":    func(http.ResponseWriter, *http.Request) {},
		"redirect": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) },
		"nesting":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("[", 1_000_000))) },
	} {
		s := serve(t, h)
		r := open(t, find(t, "zscaler.executePolicy"), `{"policyId":1,"credentials":{"apiKey":"test-key","baseUrl":"https://`+name+`.example"}}`, &check.Deps{Services: s})
		if res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"x"}}); res.Error == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
