package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/config"
	"sluice/internal/ops/doctor"
	"sluice/internal/ops/keyfile"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// findings are what doctor says, by subject, "FAIL" or "warn" in front of what is not well.
func findings(t *testing.T, s config.Settings, broken ...config.Problem) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range Doctor(t.Context(), s, broken) {
		out[f.Subject] += marked(f) + "\n"
	}
	return out
}

func marked(f doctor.Finding) string {
	switch {
	case f.Err != nil && f.Warning:
		return "warn " + f.Message()
	case f.Err != nil:
		return "FAIL " + f.Message()
	}
	return f.Message()
}

func wants(t *testing.T, message, start string, parts ...string) {
	t.Helper()
	if !strings.HasPrefix(message, start) {
		t.Errorf("%q does not begin with %q", message, start)
	}
	for _, p := range parts {
		if !strings.Contains(message, p) {
			t.Errorf("%q does not say %q", message, p)
		}
	}
}

func TestDoctorTriesWhatIsSaved(t *testing.T) {
	t.Parallel()
	var tried atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tried.Add(1)
		if len(r.Header["Authorization"]) > 0 {
			t.Error("a credential was sent")
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer up.Close()
	gone := upstream.Refused(t)
	s := freshSettings(t)
	s.Security.TrustedCustomHosts = []string{"127.0.0.1"}
	s.Upstream.HTTPSProxy = sealed.New(gone) // the well-known host cannot be reached
	none := findings(t, s)
	wants(t, none["database"], "the file will be created on the first start")
	wants(t, none["upstream"], "warn no providers are saved; api.openai.com: ")
	if _, err := os.Stat(filepath.Join(s.Data.Dir, "sluice.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made a database: %v", err)
	}

	save(t, s, map[string]string{"openai-main": up.URL + "/v1", "also": up.URL + "/other"}, `{"targets":[{"provider":"openai","custom_host":"`+gone+`/v1"}]}`)
	some := findings(t, s)["upstream"]
	host := strings.TrimPrefix(up.URL, "http://")
	wants(t, some, "", host+" responds (401 without a key)\n", "FAIL "+strings.TrimPrefix(gone, "http://")+": ")
	if strings.Contains(some, "openai.com") || strings.Count(some, "\n") != 2 || tried.Load() != 1 {
		t.Errorf("%s after %d calls", some, tried.Load())
	}
}

// save stores integrations with these custom hosts and a config.
func save(t *testing.T, s config.Settings, custom map[string]string, doc string) {
	t.Helper()
	err := offline(t.Context(), s, slog.New(slog.DiscardHandler), func(a *database) error {
		if err := a.foundDeployment(t.Context()); err != nil {
			return err
		}
		workspace, err := bootstrap.DefaultWorkspace(t.Context(), a.store)
		if err != nil {
			return err
		}
		return a.store.InTx(t.Context(), func(tx resource.Tx) error { return saveRecords(t.Context(), a, tx, workspace, custom, doc) })
	})
	if err != nil {
		t.Fatal(err)
	}
}

func saveRecords(ctx context.Context, a *database, tx resource.Tx, workspace resource.Record, custom map[string]string, doc string) error {
	put := func(kind, id, slug string, body any) error {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		return tx.Insert(ctx, resource.Record{
			Kind: kind, ID: id, OrgID: workspace.OrgID, WorkspaceID: workspace.ID, Slug: slug, Name: slug,
			Status: resource.Active, Version: 1, Created: a.clock.Now(), Updated: a.clock.Now(), Body: b,
		})
	}
	for slug, host := range custom {
		id := ident.NewID()
		fields, err := json.Marshal(map[string]string{"custom_host": host})
		if err != nil {
			return err
		}
		shut, err := a.box.Seal(fields, credential.IntegrationKind+"/"+id)
		if err != nil {
			return err
		}
		if err := put(credential.IntegrationKind, id, slug, credential.Integration{Name: slug, AIProviderID: "openai", Configurations: shut}); err != nil {
			return err
		}
	}
	id, saved := ident.NewID(), routing.Saved{Name: "config"}
	if err := saved.Seal(a.box, id, []byte(doc)); err != nil {
		return err
	}
	return put(routing.SavedKind, id, "pc-config", saved)
}

// Cures fit the engine, and no reader is spoken of where there is none.
func TestDoctorOfDatabases(t *testing.T) {
	t.Parallel()
	damaged := freshSettings(t)
	if err := os.MkdirAll(damaged.Data.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(damaged.Data.Dir, "sluice.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	message := findings(t, damaged)["database"]
	wants(t, message, "FAIL database: ", path, "restore it from a backup")
	folder := freshSettings(t)
	if err := os.MkdirAll(filepath.Join(folder.Data.Dir, "sluice.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	message += findings(t, folder)["database"]
	wants(t, message, "FAIL ", "can read and write "+filepath.Join(folder.Data.Dir, "sluice.db"))
	if strings.Contains(message, "DB_HOST") || strings.Contains(message, "reader") {
		t.Error(message)
	}
	server := freshSettings(t)
	server.Database.Type, server.Database.Host, server.Database.Port, server.Database.User = config.MySQL, "127.0.0.1", 1, "u"
	message = findings(t, server)["database"]
	wants(t, message, "FAIL database: ", "check that the server runs and listens at DB_HOST and DB_PORT")
	server.Database.Type = config.Postgres
	message = findings(t, server)["database"]
	wants(t, message, "FAIL database: ", "check that the server runs and listens at DB_HOST and DB_PORT")
	if strings.Count(message, "\n") != 1 {
		t.Errorf("it is not one line: %q", message)
	}
	newer := freshSettings(t)
	save(t, newer, nil, `{}`)
	makeNewer(t, newer)
	message = findings(t, newer)["database"]
	wants(t, message, "FAIL the database was migrated by a newer version of sluice: its schema is at step 999", "start that version, or restore the backup made before the upgrade")
	quiet := slog.New(slog.DiscardHandler)
	for _, c := range []struct {
		s    config.Settings
		hint string
	}{{newer, "start that version, or restore the backup"}, {damaged, "restore it from a backup"}, {folder, "(DATA_DIR)"}, {server, "check that the server runs"}} {
		_, serve := New(t.Context(), c.s, Options{Log: quiet})
		for _, err := range []error{serve, Migrate(t.Context(), c.s, quiet)} {
			if err == nil || strings.Contains(err.Error(), "reader") || strings.Contains(err.Error(), "writer") || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("the start: %v", err)
			}
		}
	}
}

// makeNewer has a database say that a later version has brought it up to date.
func makeNewer(t *testing.T, s config.Settings) {
	db, err := sql.Open("sqlite", filepath.Join(s.Data.Dir, "sluice.db"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE schema_steps SET version_id = 999 WHERE version_id = 0")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// What stops a start for its keys is what doctor says, once, and nothing is said of providers
// that nobody can read.
func TestDoctorOfKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil   func(path string, s *config.Settings) error
		message string // with the path of the key file
	}{
		"gone":         {func(path string, _ *config.Settings) error { return os.Remove(path) }, "the key file %s does not exist and ENCRYPTION_KEY is not set; restore the file from a backup"},
		"short":        {func(path string, _ *config.Settings) error { return os.WriteFile(path, []byte("short\n"), 0o600) }, "the key file %s is damaged (sealed: key of 5 bytes"},
		"empty":        {func(path string, _ *config.Settings) error { return os.WriteFile(path, nil, 0o600) }, "the key file %s is empty; restore it from a backup"},
		"open to all":  {func(path string, _ *config.Settings) error { return os.Chmod(path, 0o644) }, "other users can read the key file %s (mode 644); run chmod 600 on it"},
		"another file": {func(path string, _ *config.Settings) error { return os.WriteFile(path, []byte(secondKey), 0o600) }, "sealed with another key; add the old key, as ENCRYPTION_KEY=new,old or in encryption.key"},
		"another one": {func(_ string, s *config.Settings) error {
			s.Security.EncryptionKey = sealed.New(secondKey)
			return nil
		}, "sealed with another key; add the old key, as ENCRYPTION_KEY=new,old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := freshSettings(t)
			s.Upstream.HTTPSProxy = sealed.New("http://127.0.0.1:1")
			save(t, s, map[string]string{"openai-main": "https://127.0.0.1:1/v1"}, `{}`)
			path := filepath.Join(s.Data.Dir, keyfile.Name)
			if err := c.spoil(path, &s); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.message, "%s", path, 1)
			message := findings(t, s)
			wants(t, message["sealing"], "FAIL ", want)
			wants(t, message["upstream"], "warn cannot read the saved providers; ")
			if _, err := New(t.Context(), s, Options{Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the start: %v", err)
			}
		})
	}
}

// A server may speak any language: that a database has no tables yet is nothing to cure.
func TestDoctorOfAFreshServer(t *testing.T) {
	t.Parallel()
	private := storetest.StartMariaDB(t, nil)
	private.Admin(t, "SET GLOBAL lc_messages = 'de_DE'")
	at := private.Settings(t).Writer
	s := freshSettings(t)
	s.Database = config.Database{Type: config.MySQL, Host: at.Host, Port: at.Port, User: at.User, Pass: at.Pass, Name: at.Name, SSL: "DISABLED"}
	s.Upstream.HTTPSProxy = sealed.New("http://127.0.0.1:1")
	message := findings(t, s)
	wants(t, message["database"], "mysql responds")
	wants(t, message["upstream"], "warn no providers are saved; ")
}

// certificate is one for names and 10.0.0.1, with its key.
func certificate(t *testing.T, from, until time.Time, names []string) (string, sealed.String) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, DNSNames: names, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return text("CERTIFICATE", der), sealed.New(text("PRIVATE KEY", secret))
}

// A setting that cannot be used is reported, and what it is not about is looked at.
func TestDoctorGoesOnWithoutASetting(t *testing.T) {
	t.Parallel()
	l, err := config.LoadLenient(config.Sources{Environ: []string{"PORT=http", "DB_TYPE=oracle", "DATA_DIR=" + filepath.Join(t.TempDir(), "data"), "HTTPS_PROXY=http://127.0.0.1:1"}})
	var broken *config.Error
	if !errors.As(err, &broken) {
		t.Fatal(err)
	}
	message := findings(t, l.Settings, broken.Problems...)
	wants(t, message["settings"], "FAIL PORT (environment)", "FAIL DB_TYPE (environment)")
	wants(t, message["listener"], "warn skipped, because PORT is not valid")
	wants(t, message["database"], "warn skipped, because DB_TYPE is not valid")
	wants(t, message["disk"], l.Settings.Data.Dir+" is writable")
	wants(t, message["clock"], "the time is ")
}

// The servers say that still.
func TestDatabaseCuresOfServers(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(testing.TB) sqlstore.Settings{config.Postgres: storetest.Postgres, config.MySQL: storetest.MySQL} {
		w := server(t).Writer
		s := freshSettings(t)
		s.Database = config.Database{Type: name, Host: w.Host, Port: w.Port, User: w.User, Pass: w.Pass, Name: w.Name + "_missing", SSL: "DISABLED", PoolSize: 1}
		wants(t, findings(t, s)["database"], "FAIL database: ", "; create the database that DB_NAME names")
		s.Database.Name, s.Database.User = w.Name, "nobody_of_that_name"
		wants(t, findings(t, s)["database"], "FAIL database: ", "DB_USER")
	}
}
