package conformance

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// TestSpecsNameWhatDialectsHave fails when a spec sends an endpoint to a dialect that
// has nothing for it, so that callers would be refused.
func TestSpecsNameWhatDialectsHave(t *testing.T) {
	t.Parallel()
	dialects := map[provider.Dialect]*dialect.Dialect{}
	for _, d := range registry.List() {
		dialects[provider.Dialect(d.Name)] = d
	}
	for _, s := range specs().All() {
		for ep, name := range s.Served() {
			d := dialects[name]
			if d == nil {
				if name != provider.Through {
					t.Errorf("%s %s: there is no dialect %q", s.ID, ep, name)
				}
				continue
			}
			if name == provider.OpenAI || d.Unified[ep] != nil || d.Upstreams[ep] != nil || d.Clients[ep] != nil ||
				ep == llm.MessagesCountTokens && d.Clients[llm.Messages] != nil {
				continue
			}
			t.Errorf("%s %s: dialect %s has nothing for it", s.ID, ep, name)
		}
	}
}
