package app

import (
	"log/slog"
	"testing"

	"sluice/internal/ops/config"
	"sluice/internal/storage/sqlstore/storetest"
)

// A login that lacks a right is found by doctor, and by the start, which would else serve and
// find out with the first write; both say who is to be given what.
func TestRightsOfDatabaseUsers(t *testing.T) {
	t.Parallel()
	server := storetest.StartPostgres(t, nil)
	full, empty := server.Settings(t), server.Settings(t)
	storetest.Do(t, full, "CREATE ROLE narrow LOGIN", "CREATE ROLE nothing LOGIN")
	s := freshSettings(t)
	s.Database = config.Database{Type: config.Postgres, Host: full.Writer.Host, Port: full.Writer.Port, User: full.Writer.User, Name: full.Writer.Name, SSL: "DISABLED", PoolSize: 2}
	narrow := s
	narrow.Database.User = "narrow"
	wantMessage := func(s config.Settings, start bool, parts ...string) {
		t.Helper()
		wants(t, findings(t, s)["database"], "FAIL ", parts...)
		if _, err := New(t.Context(), s, Options{Log: slog.New(slog.DiscardHandler)}); err == nil {
			t.Error("it starts")
		} else if start {
			wants(t, err.Error(), "", parts...)
		}
	}
	wantMessage(narrow, false, "lacks the privilege to create tables; grant DB_USER this privilege in DB_NAME")
	a, err := New(t.Context(), s, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Do(t, full, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO narrow")
	wantMessage(narrow, true, "the database user lacks INSERT on audit, ", "UPDATE on ", "; grant DB_USER SELECT, INSERT, UPDATE and DELETE on all tables of DB_NAME")
	wants(t, findings(t, s)["database"], "postgres responds")

	read := s
	read.Database.ReaderHost, read.Database.ReaderUser = full.Writer.Host, "nothing"
	wantMessage(read, true, "the database user of the reader lacks SELECT on audit, ", "; grant DB_READER_USER SELECT on all tables of DB_NAME")
	read.Database.ReaderUser = "nobody"
	wantMessage(read, true, `role "nobody" does not exist`, "; check DB_READER_USER and DB_READER_PASS")
	read.Database.ReaderUser = "narrow"
	wants(t, findings(t, read)["database"], "postgres responds")

	other := storetest.StartPostgres(t, nil)
	other.Admin(t, "CREATE DATABASE "+full.Writer.Name)
	read.Database.ReaderPort, read.Database.ReaderUser = other.Endpoint.Port, other.Endpoint.User
	wants(t, findings(t, read)["database"], "FAIL ", "the database has no tables yet", "; set DB_READER_HOST to a replica of DB_HOST")

	storetest.Do(t, empty, "ALTER ROLE narrow SET default_transaction_read_only = on")
	wantMessage(narrow, true, "the server accepts no writes; set DB_HOST to the server that accepts writes, and a replica only in DB_READER_HOST")
}
