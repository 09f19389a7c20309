package sqlstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// A file that another process has locked refuses a change after one wait of SQLite, as a
// writer that is away does; health says it, reads go on, and the first change that gets
// through ends it.
func TestLockedByAnotherProcess(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	var nr, name, path string
	require.NoError(t, s.writer.QueryRowContext(t.Context(), "PRAGMA database_list").Scan(&nr, &name, &path))
	others, reader, err := openSQLite(Settings{Path: path, PoolSize: 1})
	require.NoError(t, err)
	defer func() { assert.NoError(t, errors.Join(others.Close(), reader.Close())) }()
	other, err := others.BeginTx(t.Context(), nil) // as all of ours, it begins with the lock
	require.NoError(t, err)

	insert := func() error {
		r := resource.Record{Kind: "k", ID: ident.NewID(), Status: "active", Version: 1, Body: []byte("{}")}
		return s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Insert(t.Context(), r) })
	}
	waits := 0
	err = s.engine.retry(t.Context(), func() error {
		waits++
		return s.once(t.Context(), func(resource.Tx) error { return nil })
	})
	assert.Error(t, err)
	assert.Equal(t, 1, waits, "SQLite waited long enough")
	assert.True(t, fault.Has(insert(), fault.ReadOnly), "a change")
	_, err = s.TakeLease(t.Context(), "l", "me", time.Minute)
	assert.True(t, fault.Has(err, fault.ReadOnly), "a lease: %v", err)
	h := s.Health()
	assert.True(t, h.Status == Degraded && h.Reader && h.Writer && strings.HasPrefix(h.Detail, "locked by another process since 2"), "%+v", h)
	_, err = s.List(t.Context(), resource.Query{Kind: "k"})
	assert.NoError(t, err, "a read")

	require.NoError(t, other.Rollback())
	assert.NoError(t, insert())
	assert.Equal(t, OK, s.Health().Status)
}
