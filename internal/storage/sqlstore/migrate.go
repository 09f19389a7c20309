package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"

	"sluice/internal/kernel/ident"
)

// steps holds the numbered files of the schema and leases.sql, which runs before them. Each
// file is one statement, because MySQL cannot roll back a file that ran in part. Names in
// braces are placeholders for what differs between the engines.
//
//go:embed migrations/*.sql
var steps embed.FS

const (
	ledger         = "schema_steps" // the table of completed steps
	migrationLease = "migrate"
	// migrationTTL must be longer than the longest step. On SQLite a step uses the only
	// connection, so the lease cannot be renewed while it runs. If the lease expired, a
	// second process would run the same step.
	migrationTTL  = time.Minute
	migrationPoll = 100 * time.Millisecond
)

// migrator updates the schema, one node at a time, and checks the privileges that this needs.
type migrator struct {
	*database
	leases leaseTable
	audits auditTable
}

// Migrate updates the schema and returns when it is up to date. Any number of instances may
// call it at once: one runs the steps while the others wait. Each completed step is written
// to the table schema_steps, so the next call continues an interrupted run. When the schema
// is up to date, Migrate only reads. A process that dies then does not leave a lease that
// others must wait for.
//
// It returns ReadOnly when the writer is unavailable: call it again when Health reports the
// writer as available. It returns ErrNewer as CheckVersion does.
func (s *migrator) Migrate(ctx context.Context) error {
	migrations, err := s.engine.migrations()
	if err != nil {
		return err
	}
	if err := s.CheckVersion(ctx); err != nil {
		return err
	}
	if s.upToDate(ctx, migrations) {
		return nil
	}
	if err := s.makeLeases(ctx); err != nil {
		return err
	}
	holder := ident.NewID()
	if err := s.awaitLease(ctx, holder); err != nil {
		return err
	}
	work, cancel := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		s.renewLease(work, cancel, holder)
	}()
	err = s.CheckVersion(work) // a newer version may have held the lease before
	if err == nil {
		err = s.up(work, migrations)
	}
	if err == nil {
		err = s.audits.chainOld(work)
	}
	cancel()
	<-renewed
	if err != nil {
		err = s.noteWriter(ctx, fmt.Errorf("migrate: %w", err))
	}
	if release := s.leases.ReleaseLease(context.WithoutCancel(ctx), migrationLease, holder); err == nil {
		err = release
	}
	return err
}

// ErrNewer is the error for a database that a newer version of the program has migrated.
var ErrNewer = errors.New("the database was migrated by a newer version of sluice")

// CheckVersion returns ErrNewer when schema_steps contains a step after the last one of this
// version: the step may have changed what this version depends on. A store that is already
// open continues to work next to a newer version; only a start fails.
//
// It reads from the reader while the writer is unavailable. It ignores errors of that read,
// such as that of an empty database: if the error lasts, the next use of the tables returns
// it.
func (s *migrator) CheckVersion(ctx context.Context) error {
	migrations, err := s.engine.migrations()
	if err != nil {
		return err
	}
	source, newest, last := s.reads, migrations[len(migrations)-1].Version, int64(0)
	if !s.isKnownUnavailable() {
		source = reads{db: s.writer, engine: s.engine, side: s.write}
	}
	err = source.runStep(ctx, "read the schema history", func(ctx context.Context) error {
		return source.db.NewRaw("SELECT COALESCE(MAX(version_id), 0) FROM ?", bun.Ident(ledger)).Scan(ctx, &last)
	})
	if err == nil && last > newest {
		return fmt.Errorf("%w: its schema is at step %d, but this version supports up to %d", ErrNewer, last, newest)
	}
	return nil
}

// upToDate reports whether schema_steps contains every step and all audit rows are chained.
// A step is added to schema_steps when it is completed. After an error, such as that of an
// empty database, upToDate returns false: if the error lasts, the migration returns it.
func (s *migrator) upToDate(ctx context.Context, migrations []*goose.Migration) bool {
	if s.isKnownUnavailable() {
		return false
	}
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	var done int
	err := source.runStep(ctx, "read the schema history", func(ctx context.Context) error {
		return s.writer.NewRaw("SELECT COUNT(DISTINCT version_id) FROM ? WHERE version_id > 0", bun.Ident(ledger)).Scan(ctx, &done)
	})
	if err != nil || done != len(migrations) {
		return false
	}
	var old bool
	err = source.runStep(ctx, "find old audit rows", func(ctx context.Context) (err error) {
		old, err = s.writer.NewSelect().Model((*auditRow)(nil)).Where(unchained).Exists(ctx)
		return err
	})
	return err == nil && !old
}

// makeLeases creates the table leases, because the steps need a lease. When several instances
// create it at once, the database may report to each that it exists; that is not an error.
func (s *migrator) makeLeases(ctx context.Context) error {
	ddl, err := s.engine.step("leases.sql")
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, "create the table leases", ddl)
	if v := s.engine.verdictOn(err); err != nil && v != exists && v != duplicate {
		return err
	}
	return nil
}

func (s *migrator) awaitLease(ctx context.Context, holder string) error {
	tick := time.NewTicker(migrationPoll)
	defer tick.Stop()
	for {
		got, err := s.leases.TakeLease(ctx, migrationLease, holder, migrationTTL)
		if got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the migrating instance: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// renewLease renews the lease until ctx ends. It calls stop when another holder has the
// lease.
func (s *migrator) renewLease(ctx context.Context, stop context.CancelFunc, holder string) {
	tick := time.NewTicker(migrationTTL / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// An error does not mean that the lease is lost: on SQLite a long step uses the only
		// connection.
		if held, err := s.leases.TakeLease(ctx, migrationLease, holder, migrationTTL); err == nil && !held {
			stop()
			return
		}
	}
}

func (s *migrator) up(ctx context.Context, migrations []*goose.Migration) error {
	p, err := goose.NewProvider(s.engine.goose, s.write.db, nil, goose.WithGoMigrations(migrations...),
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(ledger))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// migrations returns one goose migration for each numbered file.
func (e *engine) migrations() ([]*goose.Migration, error) {
	names, err := fs.Glob(steps, "migrations/[0-9]*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]*goose.Migration, 0, len(names))
	for _, name := range names {
		base := strings.TrimPrefix(name, "migrations/")
		version, err := goose.NumericComponent(base)
		if err != nil {
			return nil, err
		}
		ddl, err := e.step(base)
		if err != nil {
			return nil, err
		}
		list = append(list, goose.NewGoMigration(version, &goose.GoFunc{RunTx: e.apply(base, ddl)}, nil))
	}
	return list, nil
}

// apply returns a function that runs one statement. On MySQL an object that exists already
// means that the step is done: a process died after the statement and before its row in
// schema_steps.
func (e *engine) apply(name, ddl string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, ddl)
		if v := e.verdictOn(err); err != nil && e.name == MySQL && (v == exists || v == duplicate) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// step returns the text of a file with its placeholders replaced for the engine.
func (e *engine) step(name string) (string, error) {
	b, err := steps.ReadFile("migrations/" + name)
	if err != nil {
		return "", err
	}
	return e.placeholders.Replace(string(b)), nil
}

// migratePause is the time between two attempts of MigrateLater.
const migratePause = time.Second

// MigrateLater migrates once when the writer is available again, and then waits until ctx ends. It
// returns nil. It logs each failed attempt as a warning.
func (s *Store) MigrateLater(ctx context.Context) error {
	tick := time.NewTicker(migratePause)
	defer tick.Stop()
	for done := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if done || !s.Health().Writer {
			continue
		}
		if err := s.Migrate(ctx); err != nil {
			s.log.Warn("cannot check the schema; retrying", "error", err.Error())
			continue
		}
		done = true
	}
}
