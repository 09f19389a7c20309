package sqlstore

import (
	"context"
	"fmt"
	"strings"
)

// MissingPrivileges is the error of a server login that lacks rights which the gateway needs.
type MissingPrivileges struct {
	Reader bool          // it is the login of the reader, which needs only SELECT
	Make   bool          // it may not create tables, and some are missing
	Rights []LackedRight // on existing tables
}

// LackedRight is a right that a login lacks, with the tables in order.
type LackedRight struct {
	Right  string // "UPDATE"
	Tables []string
}

// Error lists the missing rights: "the database user lacks UPDATE on leases, records".
func (l *MissingPrivileges) Error() string {
	if l.Make {
		return "the database user lacks the privilege to create tables"
	}
	text := "the database user lacks "
	if l.Reader {
		text = "the database user of the reader lacks "
	}
	for i, r := range l.Rights {
		if i > 0 {
			text += ", "
		}
		text += r.Right + " on " + strings.Join(r.Tables[:min(len(r.Tables), tablesNamed)], ", ")
		if more := len(r.Tables) - tablesNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}

// tablesNamed is the maximum number of tables that an error names for each right.
const tablesNamed = 3

// right is a right on a table. It is tried with a statement that matches no row.
type right struct{ name, statement string }

// toRead is the right that both handles need on a table.
var toRead = right{"SELECT", "SELECT 1 FROM {table} WHERE 1 = 0"}

// toWrite are the additional rights that the writer needs.
var toWrite = []right{
	{"INSERT", "INSERT INTO {table} ({column}) SELECT NULL WHERE 1 = 0"},
	{"UPDATE", "UPDATE {table} SET {column} = NULL WHERE 1 = 0"},
	{"DELETE", "DELETE FROM {table} WHERE 1 = 0"},
}

// tablesOf are the tables, each with one of its columns and the rights that the gateway can do
// without. A server may forbid changes to rows of the audit trail. The table of migrations is
// written when tables are created.
var tablesOf = [...]struct{ name, column, spared string }{
	{"audit", "id", "UPDATE DELETE"},
	{"audit_checkpoints", "org_id", "UPDATE DELETE"},
	{"audit_heads", "org_id", ""},
	{"batch_chunks", "file_id", ""},
	{"batch_files", "id", ""},
	{"batches", "id", ""},
	{"changes", "seq", ""},
	{"counters", "name", ""},
	{"leases", "name", ""},
	{"open_jobs", "id", ""},
	{"record_index", "id", ""},
	{"record_links", "set_name", ""},
	{"record_versions", "kind", ""},
	{"records", "kind", ""},
	{"responses", "id", ""},
	{ledger, "version_id", "INSERT UPDATE DELETE"},
	{"usage_meters", "carrier_id", ""},
	{"usage_positions", "node", ""},
}

// CheckRights checks that the logins of both handles have the rights that the gateway needs. It
// returns a *MissingPrivileges if one lacks some. It changes nothing: it tries each right with a
// statement that matches no row. It tries to create tables if some are missing. The SQLite file
// has no rights, and a writer that is down in HADR mode is skipped. Other errors come from
// servers that do not respond.
func (s *migrator) CheckRights(ctx context.Context) error {
	if s.engine.local {
		return nil
	}
	if !s.isKnownUnavailable() {
		if err := s.checkWriter(ctx); err != nil {
			return err
		}
	}
	if s.read.db == s.write.db {
		return nil
	}
	return lacking(s.lacks(ctx, s.read, toRead))
}

func (s *migrator) checkWriter(ctx context.Context) error {
	found, err := s.lacks(ctx, s.write, append([]right{toRead}, toWrite...)...)
	if err != nil || len(found.Rights) > 0 {
		return lacking(found, err)
	}
	migrations, err := s.engine.migrations()
	if err != nil || s.upToDate(ctx, migrations) {
		return err
	}
	// The server checks the target before the source, which does not exist.
	v, err := s.tryStatement(ctx, s.write, "CREATE TABLE sluice_doctor (LIKE sluice_doctor_of)")
	return lacking(MissingPrivileges{Make: v == denied}, err)
}

// lacking returns an error for missing rights, if there are any.
func lacking(found MissingPrivileges, err error) error {
	if err == nil && (found.Make || len(found.Rights) > 0) {
		return &found
	}
	return err
}

// lacks returns the rights that a handle lacks on existing tables.
func (s *migrator) lacks(ctx context.Context, target *side, needed ...right) (found MissingPrivileges, err error) {
	found.Reader = target == s.read
	without := map[string][]string{}
	for _, t := range tablesOf {
		for _, r := range needed {
			if strings.Contains(t.spared, r.name) {
				continue
			}
			v, err := s.tryStatement(ctx, target, strings.NewReplacer("{table}", t.name, "{column}", t.column).Replace(r.statement))
			if err != nil {
				return found, err
			}
			if v == absent {
				break // for a missing table MariaDB reports that the other rights are lacking
			}
			if v == denied {
				without[r.name] = append(without[r.name], t.name)
			}
		}
	}
	for _, r := range needed {
		if tables := without[r.name]; len(tables) > 0 {
			found.Rights = append(found.Rights, LackedRight{r.name, tables})
		}
	}
	return found, nil
}

// tryStatement classifies the error of a statement that changes nothing: denied if its login
// lacks a right. It returns an error only if the server does not respond. Servers check rights
// before they check anything else in such a statement.
func (s *migrator) tryStatement(ctx context.Context, target *side, statement string) (errorClass, error) {
	q, v := reads{engine: s.engine, side: target}, other
	err := q.runStep(ctx, "check the privileges of the database user", func(ctx context.Context) error {
		_, err := target.db.ExecContext(ctx, statement)
		v = s.engine.verdictOn(err)
		return err
	})
	if v == unavailable || ctx.Err() != nil {
		return v, err
	}
	return v, nil
}
