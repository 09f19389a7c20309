package partner_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/partner"
)

func TestEachSpecCompiles(t *testing.T) {
	for _, c := range partner.List() {
		if c.Unavailable == "" && c.New == nil {
			t.Errorf("%s: no constructor", c.ID)
		}
		t.Log(c.ID, c.Aliases, c.Phases)
	}
}
