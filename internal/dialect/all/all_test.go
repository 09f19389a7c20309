package all_test

import (
	"testing"

	"sluice/internal/dialect/all"
)

func TestListIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range all.List() {
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
