package sqlstore_test

import (
	"strconv"
	"testing"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// A database that reads backslashes in texts as escapes, and takes texts in another
// encoding, keeps and finds what it is given all the same: nothing breaks out of a text.
func TestOldStrings(t *testing.T) {
	t.Parallel()
	storetest.OldStrings(t, storetest.Postgres(t))
}

// Where the server's time zone has summer time, the hour that comes twice in autumn is two
// hours to leases.
func TestHourThatComesTwice(t *testing.T) {
	t.Setenv("TZ", "Europe/Berlin") // of the server
	set := storetest.StartMariaDB(t, nil).Settings(t)
	db, err := sqlstore.MySQLPool(set.Writer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, second := range []int64{1761438600, 1761442200} { // 2:30 in summer, 2:30 in winter
		if _, err := conn.ExecContext(t.Context(), "SET timestamp = "+strconv.FormatInt(second, 10)); err != nil {
			t.Fatal(err)
		}
		var ms int64
		if err := conn.QueryRowContext(t.Context(), "SELECT "+sqlstore.MySQLNow).Scan(&ms); err != nil || ms != second*1000 {
			t.Errorf("%d is %d ms, %v", second, ms, err)
		}
	}
}
