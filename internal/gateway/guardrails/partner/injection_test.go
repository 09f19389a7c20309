package partner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
)

func TestSearchResultsAreAddedToThePromptOfEachEndpoint(t *testing.T) {
	const results = `{"results":[{"title":"T","url":"https://t.example","text":"C."}]}`
	const added = `<\n[1] \"T\"\nURL: https://t.example\nC.\n>`
	for name, c := range map[string]struct {
		endpoint      llm.Endpoint
		request, want string
	}{
		"system message":    {llm.ChatComplete, `{"seed":12345678901234567890,"messages":[{"role":"system","content":"S"},{"role":"user","content":"u"}]}`, `{"seed":12345678901234567890,"messages":[{"role":"system","content":"S` + added + `"},{"role":"user","content":"u"}]}`},
		"no system message": {llm.ChatComplete, `{"messages":[{"role":"user","content":"u"}]}`, `{"messages":[{"role":"system","content":"` + added + `"},{"role":"user","content":"u"}]}`},
		"developer message": {llm.ChatComplete, `{"messages":[{"role":"user","content":"u"},{"role":"developer","content":[{"type":"text","text":"S"}]}]}`, `{"messages":[{"role":"user","content":"u"},{"role":"developer","content":[{"type":"text","text":"S"},{"type":"text","text":"` + added + `"}]}]}`},
		"no messages":       {llm.ChatComplete, `{"messages":[]}`, `{"messages":[{"role":"system","content":"` + added + `"}]}`},
		"other messages":    {llm.ChatComplete, `{"messages":"x"}`, ``},
		"Messages":          {llm.Messages, `{"system":"S","messages":[{"role":"user","content":"u"}]}`, `{"system":"S` + added + `","messages":[{"role":"user","content":"u"}]}`},
		"Messages, none":    {llm.Messages, `{"messages":[{"role":"user","content":"u"}]}`, `{"messages":[{"role":"user","content":"u"}],"system":"` + added + `"}`},
		"Responses":         {llm.CreateModelResponse, `{"input":"u"}`, `{"input":"u","instructions":"` + added + `"}`},
		"prompt":            {llm.Complete, `{"prompt":"u"}`, `{"prompt":"` + added + `u"}`},
		"prompts":           {llm.Complete, `{"prompt":["u","v"]}`, `{"prompt":["` + added + `","u","v"]}`},
		"tokens":            {llm.Complete, `{"prompt":7}`, ``},
	} {
		s := returns(200, results)
		r := open(t, find(t, "exa.online"), `{"prefix":"<","suffix":">","credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: s})
		res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Endpoint: c.endpoint, Texts: []string{"u"}, Body: []byte(c.request), Request: []byte(c.request)})
		if !res.Verdict || res.Error != nil || string(res.Body) != c.want {
			t.Errorf("%s: %s, want %s; %v", name, res.Body, c.want, res.Error)
		}
		if rewriter, ok := r.(check.Rewriter); !ok || !rewriter.Rewrites() {
			t.Errorf("%s: the check does not rewrite", name)
		}
	}
}

func TestNoSearchIsPaidWhereResultsCannotBeAdded(t *testing.T) {
	s := stub(func(context.Context, *check.ServiceRequest) (*check.ServiceResponse, error) {
		t.Error("a call was made")
		return nil, errors.New("unexpected")
	})
	r := open(t, find(t, "tavily.online"), `{"credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: s})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Endpoint: llm.Embed, Texts: []string{"u"}, Body: []byte(`{"input":"u"}`)})
	if !res.Verdict || res.Body != nil || res.Error != nil {
		t.Errorf("result %+v", res)
	}
}

func TestAChangedBodyIsForwardedAsTheServiceWroteIt(t *testing.T) {
	const body = `{"model":"m","seed":12345678901234567890,"messages":[{"role":"user","content":"[X]"}],"n":1.0}`
	s := returns(200, `{"status":"Success","result":{"blocked":false,"transformed":true,"guard_output":`+body+`}}`)
	r := open(t, find(t, "crowdstrike-aidr.guardChatCompletions"), `{"credentials":{"apiKey":"test-key","baseUrl":"https://x.example"}}`, &check.Deps{Services: s})
	res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Endpoint: llm.ChatComplete, Texts: []string{"a"}, Body: json.RawMessage(`{}`)})
	if string(res.Body) != body {
		t.Errorf("body %s, want %s", res.Body, body)
	}
	if redactor, ok := r.(check.Redactor); !ok || redactor.Redacts() {
		t.Error("a check that replaces bodies counts as one with edits")
	}
}

func TestABodyAboveTheLimitGoesInSeveralCallsAndIsNeverForwardedUnchanged(t *testing.T) {
	for _, transformed := range []string{"false", "true"} {
		var calls atomic.Int32
		s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
			calls.Add(1)
			if len(r.Body) > 1<<20 {
				t.Errorf("a call has %d bytes", len(r.Body))
			}
			return &check.ServiceResponse{Status: 200, Body: []byte(`{"status":"Success","result":{"transformed":` + transformed + `,"guard_output":{}}}`)}, nil
		})
		request, err := json.Marshal(map[string]any{"messages": []any{map[string]any{"role": "user", "content": strings.Repeat("many words ", 200_000)}}})
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, find(t, "crowdstrike-aidr.guardChatCompletions"), `{"credentials":{"apiKey":"test-key","baseUrl":"https://x.example"}}`, &check.Deps{Services: s})
		res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Endpoint: llm.ChatComplete, Texts: []string{"a"}, Body: request, Request: request})
		if calls.Load() < 2 || res.Error != nil || res.Body != nil || res.Verdict != (transformed == "false") {
			t.Errorf("transformed %s: verdict %v, error %v after %d calls", transformed, res.Verdict, res.Error, calls.Load())
		}
	}
}

func TestASearchHasOneQueryWithinTheLimit(t *testing.T) {
	calls := 0
	s := stub(func(_ context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
		calls++
		var body struct{ Query string }
		if err := json.Unmarshal(r.Body, &body); err != nil || len(body.Query) > 400 || body.Query == "" {
			t.Errorf("query of %d characters, %v", len(body.Query), err)
		}
		return &check.ServiceResponse{Status: 200, Body: []byte(`{"results":[]}`)}, nil
	})
	r := open(t, find(t, "tavily.online"), `{"credentials":{"apiKey":"test-key"}}`, &check.Deps{Services: s})
	r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Endpoint: llm.ChatComplete, Texts: []string{strings.Repeat("word ", 1000)}, Body: []byte(`{"messages":[]}`)})
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

func TestChecksThatReplaceTextsAreRedactorsWhenParametersSaySo(t *testing.T) {
	const credentials = `"credentials":{"pii":{"resourceName":"r","apiKey":"test-key"}}`
	for parameters, want := range map[string]bool{`{` + credentials + `}`: false, `{"redact":true,` + credentials + `}`: true, `{"redact":"reversible",` + credentials + `}`: true} {
		r, ok := open(t, find(t, "azure.pii"), parameters, nil).(check.Redactor)
		if !ok || r.Redacts() != want {
			t.Errorf("%s: redacts %v, want %v", parameters, !want, want)
		}
	}
}

func TestResponsesThatReportAnErrorAreErrors(t *testing.T) {
	for id, c := range map[string]struct{ parameters, response string }{
		"azure.pii":                  {`{"credentials":{"pii":{"resourceName":"r","apiKey":"test-key"}}}`, `{"results":{"documents":[{"entities":[]}],"errors":[{"id":"0"}]}}`},
		"panw-prisma-airs.intercept": {`{"credentials":{"AIRS_API_KEY":"test-key"}}`, `{"action":"allow","timeout":true}`},
		"pangea.pii":                 {`{"credentials":{"apiKey":"test-key","domain":"x.example"}}`, `{"status":"Unauthorized","result":{"count":0}}`},
		"sydelabs.sydeguard":         {`{"credentials":{"apiKey":"test-key"}}`, `{"error":"quota","category_scores":[]}`},
	} {
		r := open(t, find(t, id), c.parameters, &check.Deps{Services: returns(200, c.response)})
		if res := r.Run(context.Background(), &check.Input{Phase: guardrail.Input, Texts: []string{"u"}}); res.Error == nil {
			t.Errorf("%s: no error", id)
		}
	}
}
