package routing_test

import (
	"slices"
	"testing"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

func TestForwardHeaders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		value string
		want  []string
		ok    bool
	}{
		{"X-Team, x-trace ,", []string{"x-team", "x-trace"}, true},
		{`["X-Team", 'x-trace']`, []string{"x-team", "x-trace"}, true},
		{"", nil, true},
		{"x-team, X-Gateway-Forward-Headers", nil, false},
		{"x-gateway-api-key", nil, false},
		{"X-AWS-EC2-Metadata-Token", nil, false},
		{"x team", nil, false},
		{"x-a\r\nx-b", nil, false},
	}
	for _, c := range cases {
		got, err := routing.ForwardHeaders(c.value)
		if (err == nil) != c.ok || !slices.Equal(got, c.want) || !c.ok && !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("%q: %q, %v", c.value, got, err)
		}
	}
}
