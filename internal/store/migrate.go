package store

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

	"sluice/internal/ident"
)

// steps holds the numbered files of the schema, one statement each because MySQL
// cannot roll back a half-done file, and leases.sql, which comes before the rest.
// Words in braces stand for what the engines call differently.
//
//go:embed migrations/*.sql
var steps embed.FS

const (
	ledger         = "schema_steps" // table of the steps done
	migrationLease = "migrate"
	// On SQLite a step holds the only connection, so the lease is not renewed while it
	// runs: longer than the longest step, or a second process would do the same step.
	migrationTTL  = time.Minute
	migrationPoll = 100 * time.Millisecond
)

// Migrate brings the schema up to date and returns when it is, whoever did it: any
// number of instances may call it at once, one works while the others wait. Each
// step done is written to the table schema_steps, so a stopped run goes on where it
// was. Where nothing is to be done it only reads, so a process that dies meanwhile
// leaves no lease for others to wait for. ReadOnly when the writer is away: call it
// again when Health shows it back; ErrNewer as CheckVersion has it.
func (s *Store) Migrate(ctx context.Context) error {
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
	err = s.CheckVersion(work) // a later version may have had the lease
	if err == nil {
		err = s.up(work, migrations)
	}
	if err == nil {
		err = s.chainOld(work)
	}
	cancel()
	<-renewed
	if err != nil {
		err = s.noteWriter(ctx, fmt.Errorf("migrate: %w", err))
	}
	if release := s.ReleaseLease(context.WithoutCancel(ctx), migrationLease, holder); err == nil {
		err = release
	}
	return err
}

// ErrNewer is that of a database which a later version has brought up to date.
var ErrNewer = errors.New("the database was migrated by a newer version of sluice")

// CheckVersion is ErrNewer where the ledger has a step that is not known here: what it
// changed may be what this version goes by. A store that is open goes on beside a later
// version, as long as nothing is started on it. The reader is asked while the writer is
// away. An error, such as that of an empty database, is none of this: whoever uses the
// tables meets it again if it lasts.
func (s *Store) CheckVersion(ctx context.Context) error {
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

// upToDate reports whether every step is in the ledger, which has its line when it is
// done, and every audit row in the chain. An error, such as that of an empty database, is
// a no: whoever takes the lease meets it again if it lasts.
func (s *Store) upToDate(ctx context.Context, migrations []*goose.Migration) bool {
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

// makeLeases makes the one table that must be there before the steps can be
// guarded. Two instances that make it at once may both be told that it exists.
func (s *Store) makeLeases(ctx context.Context) error {
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

func (s *Store) awaitLease(ctx context.Context, holder string) error {
	tick := time.NewTicker(migrationPoll)
	defer tick.Stop()
	for {
		got, err := s.TakeLease(ctx, migrationLease, holder, migrationTTL)
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

// renewLease keeps the lease until ctx ends, and stops the work when it is lost.
func (s *Store) renewLease(ctx context.Context, stop context.CancelFunc, holder string) {
	tick := time.NewTicker(migrationTTL / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// An error is no loss: on SQLite a long step holds the only connection.
		if held, err := s.TakeLease(ctx, migrationLease, holder, migrationTTL); err == nil && !held {
			stop()
			return
		}
	}
}

func (s *Store) up(ctx context.Context, migrations []*goose.Migration) error {
	p, err := goose.NewProvider(s.engine.goose, s.write.db, nil, goose.WithGoMigrations(migrations...),
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(ledger))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// migrations makes a goose step of each numbered file.
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

// apply runs a statement. On MySQL a process that fell between a statement and its
// line in the ledger finds the thing there: that step is done.
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

// step reads a file in the words of the engine.
func (e *engine) step(name string) (string, error) {
	b, err := steps.ReadFile("migrations/" + name)
	if err != nil {
		return "", err
	}
	return e.placeholders.Replace(string(b)), nil
}
