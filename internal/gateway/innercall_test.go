package gateway_test

import (
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
)

// A judge is called at the saved provider that its model names, whatever config the caller's key has and
// although its organisation allows only saved configs.
func TestJudge_IsCalledAtTheProviderThatItsModelNames(t *testing.T) {
	t.Parallel()
	for _, phase := range []guardrail.Phase{guardrail.Input, guardrail.Output} {
		for text, status := range map[string]int{"harmless": 200, "this is forbidden": 446} {
			p := newPaidRig(t)
			p.judged()
			p.save("g1", llmJudge, guardrail.Actions{Deny: true})
			p.saved("a", "openai", "/own/v1")
			p.numbered("/own/v1/chat/completions", `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s, `+text+`"},"finish_reason":"stop"}]}`)
			p.dir.config(t, "pc-forced", `{"provider":"@a","`+string(phase)+`_guardrails":["g1"]}`)
			no := false
			e := p.dir.add(keys.NewHasher([]byte("pepper of the tests")), "sk-locked-locked-locked", access.WorkspaceService, workspace, "completions.write")
			e.Key.Defaults = keys.Defaults{ConfigID: "pc-forced", AllowConfigOverride: &no}
			p.dir.scope.SavedOnly = true
			a := p.call("POST", "/v1/chat/completions", chatAbout(text), "x-gateway-api-key: sk-locked-locked-locked")
			if a.StatusCode != status {
				t.Errorf("%s of %q: %d %s", phase, text, a.StatusCode, a.Text)
			}
			judgements := 0
			for _, seen := range p.up.Seen() {
				if seen.Path() == "/v1/chat/completions" {
					judgements++
				}
			}
			if judgements != 1 {
				t.Errorf("%s of %q: %d calls of the judge", phase, text, judgements)
			}
		}
	}
}
