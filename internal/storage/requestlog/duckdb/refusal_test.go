package duckdb

import (
	"errors"
	"fmt"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/kernel/fault"
)

// Who asks for more than there is memory for is told so; any other failure is ours.
func TestRefusal(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("analyse log rows: %w", &duckdb.Error{Type: duckdb.ErrorTypeOutOfMemory, Msg: "Out of Memory Error: failed to allocate"})
	if err := refusal(full); !fault.Has(err, fault.Overloaded) {
		t.Errorf("%v, want overloaded", err)
	}
	other := errors.New("the disk is sick")
	if err := refusal(other); !errors.Is(err, other) || fault.Has(err, fault.Overloaded) {
		t.Errorf("%v, want %v", err, other)
	}
}
