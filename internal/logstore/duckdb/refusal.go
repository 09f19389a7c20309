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
		return fault.New(fault.Overloaded, "the question takes more memory than ANALYTICS_MEMORY_MB gives to the request log: ask for a shorter time or fewer groups").WithCause(err)
	}
	return err
}
