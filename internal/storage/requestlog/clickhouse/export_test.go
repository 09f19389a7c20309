package clickhouse

import (
	"testing"
	"time"
)

// Begin notes that a batch is on its way and goes no further.
func Begin(t *testing.T, d *DB) {
	t.Helper()
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := d.note(t.Context(), position{next: d.last.next, bodies: d.last.bodies, open: true}); err != nil {
		t.Fatal(err)
	}
}

// Limit sets how long the steps of a Write may take together.
func (d *DB) Limit(batch time.Duration) { d.batchLimit = batch }

// SetDeferWait sets how long rows of other nodes that are due are left to them.
func (d *DB) SetDeferWait(wait time.Duration) { d.others.wait = wait }
