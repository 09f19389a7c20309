package sqlstore_test

import (
	"database/sql"
	"fmt"
	"testing"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"

	"sluice/internal/storage/sqlstore/storetest"
)

// MySQL commits each DDL statement by itself: a process may fall after a step and
// before its line in the ledger. The next one finds the thing there and goes on.
func TestMigrateResumesOnMySQL(t *testing.T) {
	t.Parallel()
	settings := storetest.MySQL(t)
	storetest.Open(t, settings)
	w := settings.Writer
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", w.User, w.Pass.Reveal(), w.Host, w.Port, w.Name))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, forget := range []string{"version_id > 13", "version_id > 10", "version_id > 0"} {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM schema_steps WHERE "+forget); err != nil {
			t.Fatal(err)
		}
		s := storetest.Open(t, settings)
		if _, err := insert(t, s); err != nil {
			t.Errorf("after a ledger without %s: %v", forget, err)
		}
	}
}
