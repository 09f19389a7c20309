package duckdb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Migrations are numbered from 1 without gaps: 0001_log.sql. One is never changed
// once it was released.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the pending migrations, each in a transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL, applied TIMESTAMPTZ NOT NULL)"); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	var version int
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&version); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for i, name := range names { // Glob sorts
		if i+1 <= version {
			continue
		}
		if err := runMigration(ctx, db, name, i+1); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	if version > len(names) {
		return fmt.Errorf("migrate: the database is at version %d, but this program supports up to %d", version, len(names))
	}
	return nil
}

func runMigration(ctx context.Context, db *sql.DB, name string, version int) error {
	if prefix := fmt.Sprintf("migrations/%04d_", version); !strings.HasPrefix(name, prefix) {
		return fmt.Errorf("expected a name like %s", prefix+"x.sql")
	}
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO migrations VALUES (?, now())", version); err != nil {
		return err
	}
	return tx.Commit()
}
