// Package hint recognises errors of servers by their text and returns what to do about them, with
// the names of the settings that matter. Each kind of server has a function: Database, Redis and
// Listener.
package hint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/storage/sqlstore"
)

// knownError is an error that is recognised by the text of a server or its driver.
type knownError struct {
	patterns []string // the error contains one of these
	hint     string
}

// serverFaults are known errors of database servers. The first match counts: a server's error
// about a login may follow an error of a first attempt with TLS, which the server does not
// support.
// Sources: https://www.postgresql.org/docs/15/errcodes-appendix.html and
// https://mariadb.com/kb/en/mariadb-error-code-reference/, read 2026-11.
var serverFaults = []knownError{
	{[]string{"SQLSTATE 28P01", "Error 1045", "Error 1698"}, "check DB_USER and DB_PASS"},
	{[]string{"does not exist (SQLSTATE 28000)"}, "check DB_USER and DB_PASS"},
	{[]string{"no pg_hba.conf entry", "SQLSTATE 28000", "Error 1130"}, "allow DB_USER to connect from this machine (pg_hba.conf, or the host of the user), with TLS if the server requires it (DB_SSL)"},
	{[]string{"SQLSTATE 3D000", "Error 1049"}, "create the database that DB_NAME names, or correct DB_NAME"},
	{[]string{"Error 1044"}, "check DB_NAME, and grant DB_USER all rights on that database"},
	{[]string{"must be owner"}, "run sluice migrate as the database user that owns the tables, or make DB_USER their owner"},
	{[]string{"SQLSTATE 42501", "Error 1142", "Error 1227"}, "grant DB_USER the privilege to create and alter tables in DB_NAME, or make DB_USER the owner of that database"},
	{[]string{"the server accepts no writes", "SQLSTATE 25006", "Error 1290", "Error 1792", "Error 1836"}, "set DB_HOST to the server that accepts writes, and a replica only in DB_READER_HOST; if it is that server, check why it is read-only, for DB_USER too"},
	{[]string{"SQLSTATE 42P07", "Error 1050"}, "DB_NAME contains tables of another program or of an interrupted start; use a separate database for the gateway"},
	{[]string{"SQLSTATE 53300", "Error 1040", "Error 1203"}, "raise the connection limit of the server, or lower DB_POOL_SIZE; each gateway uses that many connections"},
	{[]string{"SQLSTATE 57P03"}, "the server is starting or stopping; try again when it is up"},
	{[]string{"no such host", "hostname resolving error", "server misbehaving"}, "check DB_HOST, and the DNS resolver of this machine"},
	{[]string{"connection refused"}, "check that the server runs and listens at DB_HOST and DB_PORT"},
	{[]string{"x509:", "certificate"}, "set DB_SSL_CA to the CA of the server's certificate and DB_HOST to a name in it, or set DB_SSL to a mode without verification"},
	{[]string{"received unexpected message", "malformed packet", "busy buffer", "unexpected EOF"}, "the server at DB_HOST and DB_PORT does not match DB_TYPE; check these settings"},
	{[]string{"deadline exceeded", "i/o timeout", "no route to host", "network is unreachable"}, "check DB_HOST, DB_PORT, whether the server there matches DB_TYPE, and the firewall"},
	{[]string{"server refused TLS", "does not support TLS"}, "enable TLS in the server, or set DB_SSL to PREFERRED or DISABLED"},
}

// fileFaults are known errors of the SQLite file. Its path is inserted into the hint.
var fileFaults = []knownError{
	{[]string{"not a database", "malformed"}, "the file %s is damaged or not a database; restore it from a backup, together with the files next to it"},
}

// The hints for all other errors.
const (
	anyFileFault   = "check that this user can read and write %s, the files next to it and their folder (DATA_DIR), and that the disk has free space"
	anyServerFault = "check DB_TYPE, DB_HOST, DB_PORT, DB_USER, which must be allowed to create tables, DB_PASS, DB_NAME and DB_SSL"
)

// ofReader replaces the settings of the writer with those of the reader.
var ofReader = strings.NewReplacer("DB_HOST", "DB_READER_HOST", "DB_PORT", "DB_READER_PORT", "DB_USER", "DB_READER_USER", "DB_PASS", "DB_READER_PASS")

// Database returns what to do about an error of the database with these settings, or about any
// problem with it if err is nil.
func Database(s sqlstore.Settings, err error) string {
	if errors.Is(err, sqlstore.ErrNewer) {
		return "start that version, or restore the backup made before the upgrade"
	}
	if lacks := (*sqlstore.MissingPrivileges)(nil); errors.As(err, &lacks) {
		return privilegeHint(s, lacks)
	}
	if s.Reader.Host != "" && errors.Is(err, sqlstore.ErrNoTables) {
		return "set DB_READER_HOST to a replica of DB_HOST, or wait until that replica has caught up with DB_HOST"
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if s.Engine == sqlstore.SQLite {
		return fmt.Sprintf(findHint(fileFaults, text, anyFileFault), s.Path)
	}
	hint := findHint(serverFaults, text, anyServerFault)
	if s.Reader.Host != "" && strings.Contains(text, "database reader: ") {
		return ofReader.Replace(hint)
	}
	return hint
}

// privilegeHint returns how to grant a login the rights that it lacks.
func privilegeHint(s sqlstore.Settings, l *sqlstore.MissingPrivileges) string {
	switch {
	case l.Make:
		return "grant DB_USER this privilege in DB_NAME (CREATE on its schema in PostgreSQL; ALL on the database in MariaDB and MySQL), or run sluice migrate as a database user that has it"
	case l.Reader && s.Reader.Host != "":
		return "grant DB_READER_USER SELECT on all tables of DB_NAME"
	}
	return "grant DB_USER SELECT, INSERT, UPDATE and DELETE on all tables of DB_NAME, including tables that later versions create, or make DB_USER their owner"
}

// findHint returns the hint of the first fault that matches text, or other.
func findHint(faults []knownError, text, other string) string {
	for _, f := range faults {
		if slices.ContainsFunc(f.patterns, func(part string) bool { return strings.Contains(text, part) }) {
			return f.hint
		}
	}
	return other
}

// WithDatabase adds a hint to an error of opening or migrating the database. It leaves
// context.Canceled unchanged.
func WithDatabase(s sqlstore.Settings, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w; %s", DatabaseError(s, err), Database(s, err))
}

// DatabaseError rewords an error of the database for operators: it removes repeated lines, and
// leaves out roles if there is no separate reader. The result wraps err.
func DatabaseError(s sqlstore.Settings, err error) error {
	text := withoutRepeats(err.Error())
	if s.Reader.Host == "" {
		text = strings.NewReplacer("database reader: ", "database: ", "database writer: ", "database: ",
			"reader unavailable since", "unavailable since", "writer unavailable since", "unavailable since").Replace(text)
	}
	return reworded{err, text}
}

// withoutRepeats removes repeated lines. A driver reports each attempt, with and without TLS, and
// may report one address under several names.
func withoutRepeats(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// reworded is an error with another text.
type reworded struct {
	error
	text string
}

// Error returns the new text.
func (e reworded) Error() string { return e.text }

// Unwrap returns the original error.
func (e reworded) Unwrap() error { return e.error }
