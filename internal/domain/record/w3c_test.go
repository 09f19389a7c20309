package record_test

import (
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
)

func TestIdsOfTracesAsNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, id, trace, span string }{
		{"of W3C", "4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736", ""},
		{"in capitals", "4BF92F3577B34DA6A3CE929D0E0E4736", "4bf92f3577b34da6a3ce929d0e0e4736", ""},
		{"a UUID", "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f", "0191f3a04c1e7b6f9d2a0c6d8a1e5b3f", "9d2a0c6d8a1e5b3f"},
		{"a span", "00f067aa0ba902b7", "", "00f067aa0ba902b7"},
		{"free text", "my trace", "", ""},
	} {
		trace, span := record.W3CTrace(c.id), record.W3CSpan(c.id)
		if c.name == "free text" { // any number, but not none
			c.trace, c.span = hex.EncodeToString(trace[:]), hex.EncodeToString(trace[:8])
		}
		if got := hex.EncodeToString(trace[:]); c.trace != "" && got != c.trace {
			t.Errorf("%s: trace %s, want %s", c.name, got, c.trace)
		}
		if got := hex.EncodeToString(span[:]); c.span != "" && got != c.span {
			t.Errorf("%s: span %s, want %s", c.name, got, c.span)
		}
	}
}

func TestNumbersOfTracesAreNeverZero(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9a-f]{16}`), rapid.StringMatching(`[0-9a-fA-F]{32}`), rapid.Just("0000000000000000"), rapid.Just("00000000000000000000000000000000"), rapid.Just(ident.NewID())).Draw(t, "id")
		if record.W3CTrace(id) == [16]byte{} || record.W3CSpan(id) == [8]byte{} {
			t.Errorf("%q is nothing", id)
		}
	})
}
