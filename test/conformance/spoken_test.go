package conformance

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/all"
	"sluice/internal/llm"
	"sluice/internal/provider"
)

// unspoken are endpoints that a spec names, that callers are refused with
// not_supported, and why.
var unspoken = map[string]string{
	"fireworks-ai uploadFile": "a dataset is made, filled and checked in calls to four addresses",
}

// TestSpecsNameWhatDialectsHave fails when a spec sends an endpoint to a dialect that
// has nothing for it, so that callers would be refused.
func TestSpecsNameWhatDialectsHave(t *testing.T) {
	t.Parallel()
	dialects := map[provider.Dialect]*dialect.Dialect{}
	for _, d := range all.List() {
		dialects[provider.Dialect(d.Name)] = d
	}
	excused := map[string]bool{}
	for _, s := range specs().All() {
		for ep, name := range s.Served() {
			d := dialects[name]
			if d == nil {
				if name != provider.Through && proven(name) {
					t.Errorf("%s %s: there is no dialect %q", s.ID, ep, name)
				}
				continue
			}
			if name == provider.OpenAI || d.Unified[ep] != nil || d.Upstreams[ep] != nil || d.Clients[ep] != nil ||
				ep == llm.MessagesCountTokens && d.Clients[llm.Messages] != nil {
				continue
			}
			what := s.ID + " " + string(ep)
			if unspoken[what] == "" {
				t.Errorf("%s: dialect %s has nothing for it", what, name)
			}
			excused[what] = true
		}
	}
	for what := range unspoken {
		if !excused[what] {
			t.Errorf("%s is excused and served: take it off the list", what)
		}
	}
}
