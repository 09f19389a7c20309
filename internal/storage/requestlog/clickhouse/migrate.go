package clickhouse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"sluice/internal/storage/requestlog/clickhouse/client"
)

// Migrations are numbered from 1 without gaps: 0001_log.sql. Statements end with a
// semicolon at the end of a line, and each does no harm when it is run again: a server
// cannot take back half a file. One is never changed once it was released.
//
//go:embed migrations/*.sql
var migrations embed.FS

// minVersion is the oldest server version that supports the statements here.
var minVersion = [2]int{24, 3}

// tables are those from which rows are deleted, with their time columns.
var tables = append([]string{"attempts"}, attached...)

// migrate creates the missing database and tables, and makes the server delete old rows
// automatically. If there is nothing to do, it only reads.
func (d *server) migrate(ctx context.Context) error {
	if _, err := d.checkVersion(ctx); err != nil {
		return err
	}
	done, names, err := d.migrationState(ctx)
	if err != nil {
		return err
	}
	if done == len(names) {
		if wrong, err := d.unretained(ctx); err != nil || len(wrong) == 0 {
			return err
		}
	}
	return d.o.Exclusive(ctx, func(ctx context.Context) error { return d.up(ctx, names) })
}

// Reasons why a server, or its tables, cannot be used.
var (
	errOld = errors.New("ClickHouse is too old")
	errNew = errors.New("a later version migrated the tables")
)

// migrationState returns the migrations, and how many of them are done.
func (d *server) migrationState(ctx context.Context) (done int, names []string, err error) {
	if names, err = fs.Glob(migrations, "migrations/*.sql"); err != nil {
		return 0, nil, fmt.Errorf("migrate: %w", err)
	}
	if done, err = d.schemaVersion(ctx); err != nil {
		return 0, nil, err
	}
	if done > len(names) {
		return 0, nil, fmt.Errorf("%w: they are at version %d, but this program supports up to %d", errNew, done, len(names))
	}
	return done, names, nil
}

// checkVersion rejects a server that is too old.
func (d *server) checkVersion(ctx context.Context) (version string, err error) {
	err = d.c.Query(ctx, client.Statement{SQL: "SELECT version()", Bare: true}, func(scan func(...any) error) error { return scan(&version) })
	if err == nil && !newEnough(version) {
		err = fmt.Errorf("%w: it is %s, but %d.%d or later is required", errOld, version, minVersion[0], minVersion[1])
	}
	return version, err
}

func newEnough(text string) bool {
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && (a > minVersion[0] || a == minVersion[0] && b >= minVersion[1])
}

// schemaVersion returns the number of finished migrations; 0 without a database.
func (d *server) schemaVersion(ctx context.Context) (version int, err error) {
	err = d.c.Query(ctx, client.Statement{SQL: "SELECT max(version) FROM migrations"}, func(scan func(...any) error) error { return scan(&version) })
	if client.Is(err, client.UnknownDatabase, client.UnknownTable) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read table version: %w", err)
	}
	return version, nil
}

// up runs the pending migrations. Another instance may have run some of them meanwhile.
func (d *server) up(ctx context.Context, names []string) error {
	version, err := d.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if version == 0 {
		if err := d.createDatabase(ctx); err != nil {
			return err
		}
	}
	for i, name := range names { // Glob sorts
		if i+1 <= version {
			continue
		}
		if err := d.runMigration(ctx, name, i+1); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return d.retain(ctx)
}

// createDatabase creates the database, if it is missing, and the list of migrations.
func (d *server) createDatabase(ctx context.Context) error {
	name := d.o.Server.Database
	there := false
	var p client.Params
	err := d.c.Query(ctx, client.Statement{SQL: "SELECT name FROM system.databases WHERE name = " + p.Text(name), Params: &p, Bare: true}, func(scan func(...any) error) error {
		there = true
		return scan(new(string))
	})
	if err == nil && !there {
		err = d.c.Exec(ctx, client.Statement{SQL: "CREATE DATABASE IF NOT EXISTS `" + name + "`", Bare: true})
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	err = d.c.Exec(ctx, client.Statement{SQL: "CREATE TABLE IF NOT EXISTS migrations (version UInt32, applied DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY version"})
	if err != nil {
		return fmt.Errorf("create table migrations: %w", err)
	}
	return nil
}

func (d *server) runMigration(ctx context.Context, name string, version int) error {
	if prefix := fmt.Sprintf("migrations/%04d_", version); !strings.HasPrefix(name, prefix) {
		return fmt.Errorf("expected a name like %s", prefix+"x.sql")
	}
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := d.c.Exec(ctx, client.Statement{SQL: statement}); err != nil {
			return err
		}
	}
	var row client.Rows
	row.Uint32(uint32(version))
	return d.c.Insert(ctx, "migrations", []string{"version"}, row.Bytes())
}

// ttlClause returns the clause that makes the server delete rows automatically a day after they
// are due, in case nothing else deletes them.
func (d *server) ttlClause() string {
	return "toDateTime(started) + toIntervalDay(" + strconv.Itoa(d.o.RetentionDays+1) + ")"
}

// unretained returns the tables whose TTL clause differs from the settings.
func (d *server) unretained(ctx context.Context) (wrong []string, err error) {
	var p client.Params
	err = d.c.Query(ctx, client.Statement{
		SQL:    "SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() AND name IN " + p.Texts(tables) + " ORDER BY name",
		Params: &p,
	}, func(scan func(...any) error) error {
		var name, ddl string
		if err := scan(&name, &ddl); err != nil {
			return err
		}
		if strings.Contains(ddl, " TTL ") != (d.o.RetentionDays > 0) || d.o.RetentionDays > 0 && !strings.Contains(ddl, " TTL "+d.ttlClause()) {
			wrong = append(wrong, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read retention of rows: %w", err)
	}
	return wrong, nil
}

// retain sets the TTL clause of the tables. It does not rewrite existing parts.
func (d *server) retain(ctx context.Context) error {
	wrong, err := d.unretained(ctx)
	if err != nil {
		return err
	}
	change := "MODIFY TTL " + d.ttlClause()
	if d.o.RetentionDays == 0 {
		change = "REMOVE TTL"
	}
	for _, table := range wrong {
		err := d.c.Exec(ctx, client.Statement{SQL: "ALTER TABLE " + table + " " + change, Settings: map[string]string{"materialize_ttl_after_modify": "0"}})
		if err != nil {
			return fmt.Errorf("set retention of %s: %w", table, err)
		}
	}
	return nil
}
