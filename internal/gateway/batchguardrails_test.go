package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/tenant"
	"sluice/internal/test/upstream"
)

// A batch file for a provider is judged line by line, in the format of each line.
func TestBatchFileForAProvider_IsJudgedLineByLine(t *testing.T) {
	t.Parallel()
	const harmless = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"hi"}]}}` + "\n"
	for name, line := range map[string]string{
		"OpenAI":     `{"custom_id":"b","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"forbidden"}]}}`,
		"embeddings": `{"custom_id":"b","url":"/v1/embeddings","body":{"input":"forbidden"}}`,
		"Responses":  `{"custom_id":"b","url":"/v1/responses","body":{"input":[{"role":"user","content":"forbidden"}]}}`,
		"Mistral":    `{"custom_id":"b","body":{"messages":[{"role":"user","content":"forbidden"}]}}`,
		"Anthropic":  `{"custom_id":"b","params":{"messages":[{"role":"user","content":"forbidden"}]}}`,
		"Google":     `{"key":"b","request":{"contents":[{"role":"user","parts":[{"text":"forbidden"}]}]}}`,
		"Bedrock":    `{"recordId":"b","modelInput":{"messages":[{"role":"user","content":[{"type":"text","text":"forbidden"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.save("g1", rule, guardrail.Actions{Deny: true})
			r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
			r.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, []byte(`{"id":"file-1","object":"file"}`))))
			a := r.uploadLines(harmless+line, append(r.custom()[:1], "x-gateway-custom-host: "+r.up.URL()+"/v1")...)
			if a.StatusCode != 446 || !strings.Contains(a.Text, "line 2") || !strings.Contains(a.Text, "hook_results") || r.up.Total() != 0 {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			if a := r.uploadLines(harmless, append(r.custom()[:1], "x-gateway-custom-host: "+r.up.URL()+"/v1")...); a.StatusCode != 200 || !strings.Contains(string(r.up.Seen()[0].Body), harmless) {
				t.Errorf("without the line: %d %s", a.StatusCode, a.Text)
			}
		})
	}
}

// What a guardrail changes in a line is changed in the file that the provider receives.
func TestBatchFileForAProvider_IsSentAsGuardrailsChangedIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.save("g1", `{"id":"default.regexReplace","parameters":{"rule":"secret","redactText":"***"}}`, guardrail.Actions{})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
	r.up.Handle("/v1/files", upstream.Always(upstream.JSON(200, []byte(`{"id":"file-1","object":"file"}`))))
	a := r.uploadLines(batchLine("a", "harmless")+batchLine("b", "a secret"), r.custom()[0], r.custom()[2])
	if a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	body := string(r.up.Seen()[0].Body)
	if strings.Contains(body, "secret") || !strings.Contains(body, "a ***") || !strings.Contains(body, "harmless") || !strings.Contains(body, `name="purpose"`) {
		t.Errorf("the provider received %s", body)
	}
}

// The requests of an Anthropic batch are in the body of its creation.
func TestAnthropicBatch_IsJudged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.save("g1", rule, guardrail.Actions{Deny: true})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{InputGuardrails: []string{"g1"}}})
	body := `{"requests":[{"custom_id":"1","params":{"model":"claude-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"forbidden"}]}}]}`
	a := r.call("POST", "/v1/messages/batches", body, "x-gateway-provider: anthropic", "x-gateway-custom-host: "+r.up.URL())
	if a.StatusCode != 446 || r.up.Total() != 0 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// The results of a provider's batch are not judged, so an enforced output guardrail rejects the batch.
func TestBatchForAProvider_IsRejectedByAnEnforcedOutputGuardrail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.save("g1", rule, guardrail.Actions{Deny: true})
	r.dir.scope.SetGuardrails(workspace, &tenant.Organisation{Defaults: tenant.OrgDefaults{OutputGuardrails: []string{"g1"}}})
	body := `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`
	a := r.call("POST", "/v1/batches", body, r.custom()...)
	if a.StatusCode != 446 || !strings.Contains(a.Text, "x-gateway-provider: gateway") || r.up.Total() != 0 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	r.dir.scope.PassUnreadable = true
	if a := r.call("POST", "/v1/batches", body, r.custom()...); a.StatusCode == 446 || r.up.Total() != 1 {
		t.Errorf("where it is allowed: %d %s", a.StatusCode, a.Text)
	}
}
