package store

import (
	"context"
	"fmt"
	"strings"
)

// MissingPrivileges is the error of a login at a server that may not do what the gateway needs.
type MissingPrivileges struct {
	Reader bool          // it is that of the reader, which needs SELECT alone
	Make   bool          // it may not make tables, and some are to be made
	Rights []LackedRight // on tables that are there
}

// LackedRight is one right that a login lacks, and the tables in their order.
type LackedRight struct {
	Right  string // "UPDATE"
	Tables []string
}

// Error says what is lacking: "the database user lacks UPDATE on leases, records".
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

// tablesNamed is how many tables an error names for each right.
const tablesNamed = 3

// right is one on a table, tried by a statement that meets no row.
type right struct{ name, statement string }

// toRead is what both handles need of a table.
var toRead = right{"SELECT", "SELECT 1 FROM {table} WHERE 1 = 0"}

// toWrite is what the writer needs besides.
var toWrite = []right{
	{"INSERT", "INSERT INTO {table} ({column}) SELECT NULL WHERE 1 = 0"},
	{"UPDATE", "UPDATE {table} SET {column} = NULL WHERE 1 = 0"},
	{"DELETE", "DELETE FROM {table} WHERE 1 = 0"},
}

// tablesOf are the tables with a column of each, and which rights they can do without. A
// server may keep the rows of the audit trail from being changed. The ledger of the schema is
// written when tables are made.
var tablesOf = [...]struct{ name, column, spared string }{
	{"audit", "id", "UPDATE DELETE"},
	{"audit_checkpoints", "org_id", "UPDATE DELETE"},
	{"audit_heads", "org_id", ""},
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

// CheckRights looks whether the logins of both handles may do what the gateway needs, and is
// a *Lacking where one may not. It changes nothing: each right is tried by a statement that
// meets no row. That tables can be made is tried where some are to be. The file of SQLite has
// no rights, and a writer that is away in HADR mode is not asked. Other errors are those of
// servers that do not answer.
func (s *Store) CheckRights(ctx context.Context) error {
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

func (s *Store) checkWriter(ctx context.Context) error {
	found, err := s.lacks(ctx, s.write, append([]right{toRead}, toWrite...)...)
	if err != nil || len(found.Rights) > 0 {
		return lacking(found, err)
	}
	migrations, err := s.engine.migrations()
	if err != nil || s.upToDate(ctx, migrations) {
		return err
	}
	// The place is looked at before what is to be copied, which is not there.
	v, err := s.tryStatement(ctx, s.write, "CREATE TABLE sluice_doctor (LIKE sluice_doctor_of)")
	return lacking(MissingPrivileges{Make: v == denied}, err)
}

// lacking is the error of what was found, if anything was.
func lacking(found MissingPrivileges, err error) error {
	if err == nil && (found.Make || len(found.Rights) > 0) {
		return &found
	}
	return err
}

// lacks is what a handle lacks of rights on the tables that are there.
func (s *Store) lacks(ctx context.Context, target *side, needed ...right) (found MissingPrivileges, err error) {
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
				break // MariaDB says of one that is not there that the other rights are lacking
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

// tryStatement is what a statement comes to that is to change nothing: denied where its login lacks
// a right. The only errors are those of a server that does not answer: whatever else is wrong
// with such a statement comes behind its rights.
func (s *Store) tryStatement(ctx context.Context, target *side, statement string) (errorClass, error) {
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
