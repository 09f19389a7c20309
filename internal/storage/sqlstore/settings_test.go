package sqlstore_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// An unusable setting is named, and no secret is in the error.
func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	server := sqlstore.Settings{Engine: sqlstore.Postgres, Writer: sqlstore.Endpoint{Host: "127.0.0.1", Port: 1, User: "u", Pass: sealed.New("hunter2"), Name: "n"}}
	for want, change := range map[string]func(*sqlstore.Settings){
		"use sqlite, postgres or mysql": func(s *sqlstore.Settings) { s.Engine = "oracle" },
		"path":                          func(s *sqlstore.Settings) { s.Engine = sqlstore.SQLite },
		"DB_HOST and DB_NAME":           func(s *sqlstore.Settings) { s.Writer.Name = "" },
		"DB_POOL_SIZE":                  func(s *sqlstore.Settings) { s.PoolSize = 1001 },
		"DB_SSL is":                     func(s *sqlstore.Settings) { s.TLS.Mode = "VERIFY" },
		"DB_SSL_CA":                     func(s *sqlstore.Settings) { s.TLS.Mode, s.TLS.CA = "VERIFY_CA", "not PEM" },
		"DB_SSL_CERT":                   func(s *sqlstore.Settings) { s.TLS.Mode, s.TLS.Key = "REQUIRED", sealed.New("hunter2") },
		"database reader":               func(*sqlstore.Settings) {},
	} {
		s := server
		change(&s)
		st, err := sqlstore.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		if err == nil {
			st.Close()
			t.Errorf("%s: opened", want)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q in: %v", want, err)
		}
	}
}

func TestSQLiteFileIsPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "what? 100%#.db")
	storetest.Open(t, sqlstore.Settings{Engine: sqlstore.SQLite, Path: path})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s%s: %v, %v", path, suffix, info, err)
		}
	}
	_, err := sqlstore.Open(t.Context(), sqlstore.Settings{Engine: sqlstore.SQLite, Path: filepath.Dir(path)}, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Error("a folder was opened as a file")
	}
}

// Two processes share the file; each of ours is one Store.
func TestSQLiteTwoStores(t *testing.T) {
	t.Parallel()
	settings := storetest.SQLite(t)
	a, b := storetest.Open(t, settings), storetest.Open(t, settings)
	errs := make(chan error, 2)
	for _, s := range []*sqlstore.Store{a, b} {
		go func() {
			var err error
			for i := 0; i < 20 && err == nil; i++ {
				_, err = insert(t, s)
			}
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n, err := a.LastChange(t.Context()); err != nil || n != 40 {
		t.Errorf("last change %d, %v", n, err)
	}
}
