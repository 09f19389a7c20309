package resource

import (
	"context"

	"sluice/internal/kernel/fault"
)

// ReadLatest reads data that may have been written a moment ago. The reader of a store may be a
// replica that lags, and at a first start it does not even have the tables. So ReadLatest reads
// from the writer, and from the reader only while the writer is down. read may run twice.
func ReadLatest(ctx context.Context, s Store, read func(Reader) error) error {
	err := s.InTx(ctx, func(tx Tx) error { return read(tx) })
	if fault.Has(err, fault.ReadOnly) {
		return read(s)
	}
	return err
}
