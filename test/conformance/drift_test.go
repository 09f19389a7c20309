package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// noTools are providers that list no tools for chats.
// Source: contract/providers.yaml, only and dropped.
var noTools = strings.Fields("302ai ai21 bytez cortex deepinfra lemonfox-ai lingyi modal monsterapi moonshot ncompass nscale palm perplexity-ai predibase reka-ai sambanova siliconflow zhipu")

// requiredTranscripts are the transcripts that a provider must have.
func requiredTranscripts(s *provider.Spec) []string {
	var names []string
	for e, ep := range s.Endpoints {
		if e == llm.Proxy {
			continue
		}
		names = append(names, string(e))
		if ep.Error != "" && e != llm.ChatComplete {
			names = append(names, string(e)+"-error")
		}
	}
	if slices.Contains(names, string(llm.ChatComplete)) {
		names = append(names, "chatComplete-error")
		if s.Stream.Framing != "none" {
			names = append(names, "chatComplete-stream")
		}
		if !slices.Contains(noTools, s.ID) {
			names = append(names, "chatComplete-tools")
		}
	}
	names = append(names, string(llm.Proxy))
	slices.Sort(names)
	return names
}

// TestNothingIsUnproved fails when an endpoint of a spec has no transcript, when a
// variant has none, or when a transcript proves what is not there.
func TestNothingIsUnproved(t *testing.T) {
	t.Parallel()
	all := transcripts(t)
	for _, s := range specs().All() {
		have := map[string]bool{}
		variants := 0
		for _, tr := range all[s.ID] {
			have[tr.name()] = true
			if strings.HasPrefix(tr.special, "variant") {
				variants++
			}
			if !s.Serves(llm.Endpoint(tr.endpoint)) && !strings.HasPrefix(tr.special, "variant") {
				t.Errorf("%s: %s serves no %s", tr.path, s.ID, tr.endpoint)
			}
		}
		for _, name := range requiredTranscripts(s) {
			if !have[name] {
				t.Errorf("%s/%s.txtar is missing: write it with -draft %s", s.ID, name, s.ID)
			}
		}
		if need := len(s.Variants); variants < need {
			t.Errorf("%s has %d variants and %d transcripts called <endpoint>-variant-<what>", s.ID, need, variants)
		}
		delete(all, s.ID)
	}
	for id := range maps.Keys(all) {
		t.Errorf("transcripts of %q, which is no provider", id)
	}
}
