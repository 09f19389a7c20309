package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// CostCounters returns a text that lists the counters of nano-dollars among charges, without
// units. Calls with the same budgets have the same text. It is empty if there are none:
//
//	"0191f3a0-…-0003" "0191f3a0-…-0004" ""
//	"0191f3a0-…-0005" "" "metadata.team:search"
//
// It is valid UTF-8 even if the value keys are not.
func CostCounters(charges []Charge) string {
	b := make([]byte, 0, countersSize(charges))
	for i := range charges {
		c := &charges[i]
		if !c.Cost {
			continue
		}
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = appendQuoted(b, c.Subject)
		b = appendQuoted(append(b, ' '), c.Entry)
		b = appendQuoted(append(b, ' '), c.ValueKey)
	}
	return string(b)
}

// countersSize returns the length of the text of CostCounters if nothing is escaped.
func countersSize(charges []Charge) (n int) {
	for i := range charges {
		if c := &charges[i]; c.Cost {
			n += len(c.Subject) + len(c.Entry) + len(c.ValueKey) + len("\"\" \"\" \"\"\n")
		}
	}
	return n
}

// appendQuoted is strconv.AppendQuote, which works by runes, with a fast path for printable
// ASCII such as ids.
func appendQuoted(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, text)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// ReadCostCounters is the inverse of CostCounters: it returns a charge of 0 for each counter.
// The error wraps ErrMalformed.
func ReadCostCounters(text string) ([]Charge, error) {
	var out []Charge
	for line := range strings.Lines(text) {
		c, rest := Charge{Cost: true}, strings.TrimSuffix(line, "\n")
		for _, t := range c.texts() {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("counter %.200q: %w", line, ErrMalformed)
			}
			*t, _ = strconv.Unquote(quoted) // the text that QuotedPrefix found
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		if rest != "" {
			return nil, fmt.Errorf("counter %.200q: %w", line, ErrMalformed)
		}
		out = append(out, c)
	}
	return out, nil
}
