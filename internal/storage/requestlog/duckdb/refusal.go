package duckdb

import (
	"errors"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/kernel/fault"
)

// refusal returns fault.Overloaded for a query that needs more memory than available, and
// otherwise err.
func refusal(err error) error {
	var why *duckdb.Error
	if errors.As(err, &why) && why.Type == duckdb.ErrorTypeOutOfMemory {
		return fault.New(fault.Overloaded, "the query exceeds the memory of the request log (ANALYTICS_MEMORY_MB); use a shorter time range or fewer groups").WithCause(err)
	}
	return err
}
