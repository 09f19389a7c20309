package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// CostCounters is a text of the counters of nano-dollars among charges, without units, so
// that calls with the same budgets have the same one; empty for none:
//
//	"0191f3a0-…-0003" "0191f3a0-…-0004" ""
//	"0191f3a0-…-0005" "" "metadata.team:search"
//
// It is UTF-8 whatever the value keys are.
func CostCounters(charges []Charge) string {
	var b []byte
	for i := range charges {
		c := &charges[i]
		if !c.Cost {
			continue
		}
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = strconv.AppendQuote(b, c.Carrier)
		b = strconv.AppendQuote(append(b, ' '), c.Entry)
		b = strconv.AppendQuote(append(b, ' '), c.ValueKey)
	}
	return string(b)
}

// ReadCostCounters is the inverse of CostCounters: a charge of 0 for each counter. The
// error wraps ErrMalformed.
func ReadCostCounters(text string) ([]Charge, error) {
	var out []Charge
	for line := range strings.Lines(text) {
		c, rest := Charge{Cost: true}, strings.TrimSuffix(line, "\n")
		for _, t := range c.texts() {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("counter %.200q: %w", line, ErrMalformed)
			}
			*t, _ = strconv.Unquote(quoted) // is what QuotedPrefix found
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		if rest != "" {
			return nil, fmt.Errorf("counter %.200q: %w", line, ErrMalformed)
		}
		out = append(out, c)
	}
	return out, nil
}
