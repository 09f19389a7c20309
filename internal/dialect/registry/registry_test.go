package registry_test

import (
	"testing"

	"sluice/internal/dialect/registry"
	"sluice/internal/kernel/llm"
)

func TestListIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range registry.List() {
		if d.Name == "" || seen[d.Name] {
			t.Errorf("the name %q is empty or taken", d.Name)
		}
		seen[d.Name] = true
		if (d.Check == nil || d.CheckForm == nil || d.Shape == nil || d.ShapeForm == nil) && len(d.Upstreams)+len(d.Unified) == 0 {
			t.Errorf("%s can neither relay nor translate", d.Name)
		}
	}
	if !seen["openai"] {
		t.Error("openai is not listed")
	}
}

// Each conversation that callers may have is served by one dialect.
func TestSurfaces(t *testing.T) {
	t.Parallel()
	clients := map[llm.Endpoint]int{}
	for _, d := range registry.List() {
		for ep := range d.Clients {
			clients[ep]++
		}
	}
	for ep, n := range clients {
		if n > 1 {
			t.Errorf("%d dialects for callers of %s", n, ep)
		}
	}
	if clients[llm.ChatComplete] == 0 || clients[llm.CreateModelResponse] == 0 {
		t.Errorf("callers have %v", clients)
	}
}
