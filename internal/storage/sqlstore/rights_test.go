package sqlstore_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// rightsOn is a server, and how it is said there who may do what.
type rightsOn struct {
	full   sqlstore.Settings // of who may do everything
	making []string          // makes the user "narrow", who sees that there are no tables
	taking []string          // takes from him all that is in the database
	tables string            // what "%" stands for a table in
	all    string            // all tables
	to     string            // the user
}

// grant lets the narrow user do something on one table, or on all.
func (r rightsOn) grant(t *testing.T, what, table string) {
	t.Helper()
	storetest.Do(t, r.full, "GRANT "+what+" ON "+strings.Replace(r.tables, "%", table, 1)+" TO "+r.to)
}

// What a login may not do at real servers is found before it is needed, and named.
func TestCheckRights(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		full := storetest.StartPostgres(t, nil).Settings(t)
		checkRights(t, rightsOn{full, []string{"CREATE ROLE narrow LOGIN"}, nil, "%", "ALL TABLES IN SCHEMA public", "narrow"})
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		full := storetest.StartMariaDB(t, nil).Settings(t)
		name, user := full.Writer.Name, "'narrow'@'localhost', 'narrow'@'%'"
		checkRights(t, rightsOn{full, []string{
			"CREATE USER " + user, "CREATE TABLE " + name + ".other (id INT)", "GRANT SELECT ON " + name + ".* TO " + user,
		}, []string{
			"GRANT SELECT ON " + name + ".other TO " + user, "REVOKE SELECT ON " + name + ".* FROM " + user,
		}, name + ".%", "*", user})
	})
}

func checkRights(t *testing.T, setup rightsOn) {
	full := setup.full
	storetest.Do(t, full, setup.making...)
	narrow, read := full, full
	narrow.Writer.User = "narrow"
	read.Reader.User = "narrow"
	check := func(s sqlstore.Settings) error {
		t.Helper()
		st, err := sqlstore.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		defer func() { assert.NoError(t, st.Close()) }()
		return st.CheckRights(t.Context())
	}
	lacks := func(s sqlstore.Settings) sqlstore.MissingPrivileges {
		t.Helper()
		var l *sqlstore.MissingPrivileges
		if err := check(s); !errors.As(err, &l) {
			t.Fatalf("nothing is lacking: %v", err)
		}
		return *l
	}
	assert.NoError(t, check(full), "whoever may make tables")
	assert.Equal(t, sqlstore.MissingPrivileges{Make: true}, lacks(narrow))

	tables := tablesOf(t, full)
	require.Contains(t, tables, "usage_meters")
	storetest.Do(t, full, setup.taking...)
	l := lacks(narrow)
	require.Len(t, l.Rights, 4)
	assert.Equal(t, sqlstore.LackedRight{Right: "SELECT", Tables: tables}, l.Rights[0])
	assert.EqualError(t, check(read), "the database user of the reader lacks SELECT on audit, audit_checkpoints, audit_heads and 15 more")
	assert.Equal(t, sqlstore.MissingPrivileges{Reader: true, Rights: l.Rights[:1]}, lacks(read))

	setup.grant(t, "SELECT", setup.all)
	assert.NoError(t, check(read))
	assert.Equal(t, l.Rights[1:], lacks(narrow).Rights)
	setup.grant(t, "INSERT, DELETE", setup.all)
	for _, table := range tables {
		if table != "leases" {
			setup.grant(t, "UPDATE", table)
		}
	}
	assert.Equal(t, sqlstore.MissingPrivileges{Rights: []sqlstore.LackedRight{{Right: "UPDATE", Tables: []string{"leases"}}}}, lacks(narrow))
	assert.EqualError(t, check(narrow), "the database user lacks UPDATE on leases")
	setup.grant(t, "UPDATE", "leases")
	assert.NoError(t, check(narrow), "tables are there, so none need be made")
}

// tablesOf makes the tables and gives their names, so that a new one is not forgotten.
func tablesOf(t *testing.T, s sqlstore.Settings) (names []string) {
	t.Helper()
	storetest.Open(t, s)
	for _, name := range storetest.Tables(t, s) {
		if name != "other" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
