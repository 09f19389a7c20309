package record_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
)

func correction() record.Correction {
	return record.Correction{
		ID: recordtest.ID(recordtest.Epoch, 1), Started: recordtest.Epoch, Operation: recordtest.ID(recordtest.Epoch, 2),
		RatedAt: recordtest.Epoch.Add(time.Hour), By: recordtest.Key,
		Before: record.Rated{Unpriced: "unknown_model", Version: "0000000000000001"}, After: record.Rated{Cost: 720_000, Version: "0000000000000002", Terms: `[{"nano":720000}]`},
		Closing: []byte("L and whatever a line has"),
	}
}

func TestCorrectionsComeBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]record.Correction{"full": correction(), "a mark": {Operation: "op", RatedAt: recordtest.Epoch}} {
		b, err := want.Encode()
		if err != nil || !record.IsCorrection(b) {
			t.Fatalf("%s: %v; a correction: %v", name, err, record.IsCorrection(b))
		}
		got := correction() // what a used one held does not show
		if err := got.Decode(b); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, cmp.Diff(want, got))
		}
		if line, err := record.ClosingOf(b); err != nil || !bytes.Equal(line, want.Closing) {
			t.Errorf("%s: the line is %q, %v", name, line, err)
		}
	}
}

func TestMalformedCorrections(t *testing.T) {
	t.Parallel()
	c := correction()
	encoded, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range encoded {
		if new(record.Correction).Decode(encoded[:n]) == nil {
			t.Errorf("the first %d of %d bytes are taken for a correction", n, len(encoded))
		}
	}
	if b := recordtest.Chat(1).AppendTo(nil); new(record.Correction).Decode(b) == nil || record.IsCorrection(b) {
		t.Error("an attempt is taken for a correction")
	}
}
