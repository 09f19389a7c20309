package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/config"
	"sluice/internal/store"
)

// knownDBError is one that is known by what a server or its driver says.
type knownDBError struct {
	patterns []string // one of these is in the error
	hint     string
}

// serverFaults are those of databases on servers. The first one that fits counts: what a
// server said about a login stands beside a first try with TLS that it does not speak.
// Sources: https://www.postgresql.org/docs/15/errcodes-appendix.html and
// https://mariadb.com/kb/en/mariadb-error-code-reference/, read 2026-11.
var serverFaults = []knownDBError{
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

// fileFaults are those of the file of SQLite; its path is put in.
var fileFaults = []knownDBError{
	{[]string{"not a database", "malformed"}, "the file %s is damaged or not a database; restore it from a backup, together with the files next to it"},
}

// The cures of all others.
const (
	anyFileFault   = "check that this user can read and write %s, the files next to it and their folder (DATA_DIR), and that the disk has free space"
	anyServerFault = "check DB_TYPE, DB_HOST, DB_PORT, DB_USER, which must be allowed to create tables, DB_PASS, DB_NAME and DB_SSL"
)

// ofReader puts the settings of the reader in the place of the writer's.
var ofReader = strings.NewReplacer("DB_HOST", "DB_READER_HOST", "DB_PORT", "DB_READER_PORT", "DB_USER", "DB_READER_USER", "DB_PASS", "DB_READER_PASS")

// dbErrorHint says what to do about an error of the database.
func dbErrorHint(s config.Settings, err error) string {
	if errors.Is(err, store.ErrNewer) {
		return "start that version, or restore the backup made before the upgrade"
	}
	if lacks := (*store.MissingPrivileges)(nil); errors.As(err, &lacks) {
		return privilegeHint(s, lacks)
	}
	if s.Database.ReaderHost != "" && errors.Is(err, store.ErrNoTables) {
		return "set DB_READER_HOST to a replica of DB_HOST, or wait until that replica has caught up with DB_HOST"
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if s.Database.Type == config.SQLite {
		return fmt.Sprintf(findHint(fileFaults, text, anyFileFault), storeSettings(s).Path)
	}
	hint := findHint(serverFaults, text, anyServerFault)
	if s.Database.ReaderHost != "" && strings.Contains(text, "database reader: ") {
		return ofReader.Replace(hint)
	}
	return hint
}

// privilegeHint says how a login gets the rights that it lacks.
func privilegeHint(s config.Settings, l *store.MissingPrivileges) string {
	switch {
	case l.Make:
		return "grant DB_USER this privilege in DB_NAME (CREATE on its schema in PostgreSQL; ALL on the database in MariaDB and MySQL), or run sluice migrate as a database user that has it"
	case l.Reader && s.Database.ReaderHost != "":
		return "grant DB_READER_USER SELECT on all tables of DB_NAME"
	}
	return "grant DB_USER SELECT, INSERT, UPDATE and DELETE on all tables of DB_NAME, including tables that later versions create, or make DB_USER their owner"
}

// findHint is that of the first fault that fits what is said, else another one.
func findHint(faults []knownDBError, text, other string) string {
	for _, f := range faults {
		if slices.ContainsFunc(f.patterns, func(part string) bool { return strings.Contains(text, part) }) {
			return f.hint
		}
	}
	return other
}

// withHint is why the database cannot be opened or migrated, with what to do.
func withHint(s config.Settings, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w; %s", storeError(s, err), dbErrorHint(s, err))
}

// storeError says the same thing once, and leaves roles out where there is no reader apart.
func storeError(s config.Settings, err error) error {
	text := withoutRepeats(err.Error())
	if s.Database.ReaderHost == "" {
		text = strings.NewReplacer("database reader: ", "database: ", "database writer: ", "database: ",
			"reader unavailable since", "unavailable since", "writer unavailable since", "unavailable since").Replace(text)
	}
	return reworded{err, text}
}

// withoutRepeats drops lines that stand there already: a driver tells of each try, with TLS and
// without, and of one address under several names.
func withoutRepeats(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// reworded is an error in other words.
type reworded struct {
	error
	text string
}

// Error is the text in those words.
func (e reworded) Error() string { return e.text }

// Unwrap is the error as it came.
func (e reworded) Unwrap() error { return e.error }
