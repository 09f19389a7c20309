package store_test

import (
	"testing"

	"sluice/internal/store/storetest"
)

// A database that reads backslashes in texts as escapes, and takes texts in another
// encoding, keeps and finds what it is given all the same: nothing breaks out of a text.
func TestOldStrings(t *testing.T) {
	t.Parallel()
	storetest.OldStrings(t, storetest.Postgres(t))
}
