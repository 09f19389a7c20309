package duckdb

import (
	"errors"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/fault"
)

// refusal is fault.Overloaded for a question that needs more memory than there is, and
// otherwise the error itself.
func refusal(err error) error {
	var why *duckdb.Error
	if errors.As(err, &why) && why.Type == duckdb.ErrorTypeOutOfMemory {
		return fault.New(fault.Overloaded, "the query exceeds the memory of the request log (ANALYTICS_MEMORY_MB); use a shorter time range or fewer groups").WithCause(err)
	}
	return err
}
