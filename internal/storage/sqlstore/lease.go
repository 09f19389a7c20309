package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sluice/internal/kernel/fault"
)

// leaseTable is the table of leases.
type leaseTable struct{ *database }

// TakeLease acquires or renews a named lease for ttl and reports whether holder has it now. A
// lease has one holder at a time, until it is released or expires. Expiry follows the clock of
// the database, so the clocks of the nodes do not matter. Names have at most 64 characters and
// holders at most 255. It returns ReadOnly while the writer is down.
func (s *leaseTable) TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	if err := storable("name", name, 64); err != nil {
		return false, err
	}
	if err := storable("holder", holder, 255); err != nil {
		return false, err
	}
	now := s.engine.nowMS
	n, err := s.exec(ctx, "renew lease "+name,
		"UPDATE leases SET holder = ?, expires_ms = "+now+" + ? WHERE name = ? AND (holder = ? OR expires_ms <= "+now+")",
		holder, ttl.Milliseconds(), name, holder)
	if err != nil || n > 0 {
		return n > 0, err
	}
	_, err = s.exec(ctx, "acquire lease "+name,
		"INSERT INTO leases (name, holder, expires_ms) VALUES (?, ?, "+now+" + ?)", name, holder, ttl.Milliseconds())
	if fault.Has(err, fault.Conflict) {
		return false, nil // another holder has it
	}
	return err == nil, err
}

// Now returns the time of the writer's server; on SQLite that is this machine's time.
func (s *leaseTable) Now(ctx context.Context) (time.Time, error) {
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	var ms int64
	err := source.runStep(ctx, "read the database time", func(ctx context.Context) error {
		return s.writer.QueryRowContext(ctx, "SELECT "+s.engine.nowMS).Scan(&ms)
	})
	return time.UnixMilli(ms).UTC(), err
}

// LeaseHolder returns the holder of a lease, read from the writer; empty if there is none.
func (s *leaseTable) LeaseHolder(ctx context.Context, name string) (holder string, err error) {
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	err = source.runStep(ctx, "find the holder of lease "+name, func(ctx context.Context) error {
		return s.writer.QueryRowContext(ctx, "SELECT holder FROM leases WHERE name = ? AND expires_ms > "+s.engine.nowMS, name).Scan(&holder)
	})
	if fault.Has(err, fault.NotFound) {
		return "", nil
	}
	return holder, err
}

// ReleaseLease releases a lease. It is not an error if another holder has it.
func (s *leaseTable) ReleaseLease(ctx context.Context, name, holder string) error {
	_, err := s.exec(ctx, "release lease "+name, "DELETE FROM leases WHERE name = ? AND holder = ?", name, holder)
	return err
}

// exec runs a single statement on the writer and returns the number of matching rows. The
// statement may run twice if a connection breaks, so it must be idempotent.
func (s *database) exec(ctx context.Context, doing, query string, args ...any) (int64, error) {
	if s.isKnownUnavailable() {
		return 0, fault.New(fault.ReadOnly, "")
	}
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	var res sql.Result
	err := s.engine.retry(ctx, func() error {
		return source.runStep(ctx, doing, func(ctx context.Context) (err error) {
			res, err = s.writer.ExecContext(ctx, query, args...)
			return err
		})
	})
	if err != nil {
		return 0, s.noteWriter(ctx, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	if n > 0 {
		s.recordWriteBlock("", nil)
	}
	return n, nil
}
