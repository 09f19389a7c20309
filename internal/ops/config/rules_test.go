package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/config"
)

// keyPair makes a self-signed certificate and its key, both PEM.
func keyPair(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gateway.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	cert, key := keyPair(t)
	password := write(t, "password", "s3cret with /slash\n")
	l, err := config.Load(config.Sources{Environ: []string{
		"DB_HOST=db.example", "DB_PORT=5432", "DB_USER=sluice", "DB_PASS=" + password,
		"DB_SSL=verify_identity", "DB_SSL_CA=" + write(t, "ca.pem", cert),
		"DB_READER_HOST=replica.example", "DB_READER_PASS=/no/such/file",
		"TLS_CERT_PATH=" + write(t, "tls.pem", cert), "TLS_KEY_PATH=" + write(t, "tls.key", key), "TLS_CA=" + cert,
	}})
	require.NoError(t, err)
	s := l.Settings
	assert.Equal(t, "s3cret with /slash", s.Database.Pass.Reveal())
	assert.Equal(t, "environment, content of "+password, l.Origin("DB_PASS"))
	assert.Equal(t, strings.TrimSpace(cert), s.Database.SSLCA)
	assert.Equal(t, "VERIFY_IDENTITY", s.Database.SSL)
	assert.Contains(t, l.Origin("TLS_CERT"), "TLS_CERT_PATH, content of ")

	assert.Equal(t, "/no/such/file", s.Database.ReaderPass.Reveal(), "a password may begin with a slash")
	assert.Equal(t, []string{"DB_READER_PASS looks like a path, but the file does not exist; using the value unchanged"}, l.Warnings)

	require.True(t, s.TLS.Enabled())
	pair, err := s.TLS.Certificate()
	require.NoError(t, err)
	assert.Len(t, pair.Certificate, 2, "TLS_CA completes the chain")
}

func TestDatabaseFollowsFromHostAndPort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, set string
		engine    string
		port      int
		origin    string // of DB_TYPE
	}{
		{"nothing", "", config.SQLite, 0, "default"},
		{"port of PostgreSQL", "DB_HOST=db DB_PORT=5432 DB_USER=u", config.Postgres, 5432, "DB_PORT"},
		{"port of MySQL", "DB_HOST=db DB_PORT=3306 DB_USER=u", config.MySQL, 3306, "DB_PORT"},
		{"engine alone", "DB_HOST=db DB_TYPE=mysql DB_USER=u", config.MySQL, 3306, "environment"},
		{"odd port", "DB_HOST=db DB_TYPE=postgres DB_PORT=3306 DB_USER=u", config.Postgres, 3306, "environment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{Environ: strings.Fields(c.set)})
			require.NoError(t, err)
			assert.Equal(t, c.engine, l.Settings.Database.Type)
			assert.Equal(t, c.port, l.Settings.Database.Port)
			assert.Equal(t, c.origin, l.Origin("DB_TYPE"))
		})
	}
}

func TestAddressToListenOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ set, address, origin string }{
		{"", "127.0.0.1:8787", "default"},
		{"PORT=80", "127.0.0.1:80", "environment"},
		{"LISTEN=::", "[::]:8787", "default"},
		{"LISTEN=0.0.0.0:9000 PORT=80", "0.0.0.0:9000", "LISTEN"},
		{"LISTEN=[::1]:0", "[::1]:0", "LISTEN"},
		{"LISTEN=::1", "[::1]:8787", "default"},
		{"LISTEN=[::1]", "[::1]:8787", "default"},
		{"LISTEN=[::1] PORT=80", "[::1]:80", "environment"},
		{"--listen=[fe80::1%eth0]", "[fe80::1%eth0]:8787", "default"},
		{"LISTEN=:8080", ":8080", "LISTEN"},
		{"LISTEN=:8080 PORT=80", ":8080", "LISTEN"},
		{"LISTEN=:8080 --port=3", ":3", "command line"},
		{"PORT=80 --listen=:3", ":3", "LISTEN"},
		{"LISTEN=localhost", "localhost:8787", "default"},
		{"LISTEN=localhost:9", "localhost:9", "LISTEN"},
		{"LISTEN=0.0.0.0", "0.0.0.0:8787", "default"},
		{"LISTEN=0.0.0.0:80 --port=3", "0.0.0.0:3", "command line"},
		{"PORT=80 --listen=::1", "[::1]:80", "environment"},
		{"PORT=80 --listen=0.0.0.0:3", "0.0.0.0:3", "LISTEN"},
		{"LISTEN=0.0.0.0:80 --listen=::1 --port=3", "[::1]:3", "command line"},
		{"--listen=[::1]:4 --port=3", "[::1]:4", "LISTEN"},
		{"LISTEN=0.0.0.0:80 --listen=::1", "[::1]:8787", "default"},
	} {
		src := config.Sources{Flags: map[string]string{}}
		for _, arg := range strings.Fields(c.set) {
			if flag, ok := strings.CutPrefix(arg, "--"); ok {
				name, value, _ := strings.Cut(flag, "=")
				src.Flags[name] = value
				continue
			}
			src.Environ = append(src.Environ, arg)
		}
		l, err := config.Load(src)
		require.NoError(t, err, c.set)
		assert.Equal(t, c.address, l.Settings.Server.Address())
		assert.Equal(t, c.origin, l.Origin("PORT"))
	}
}

func TestReaderTakesWhatItLacksFromTheWriter(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{Environ: []string{
		"DB_TYPE=postgres", "DB_HOST=writer", "DB_PORT=6000", "DB_USER=u", "DB_PASS=p", "DB_READER_HOST=reader", "DB_READER_USER=ro",
	}})
	require.NoError(t, err)
	d := l.Settings.Database
	assert.Equal(t, 6000, d.ReaderPort)
	assert.Equal(t, "ro", d.ReaderUser)
	assert.Equal(t, "p", d.ReaderPass.Reveal())
	assert.Equal(t, "DB_PORT", l.Origin("DB_READER_PORT"))
}

func TestSettingsThatNeedOrExcludeEachOther(t *testing.T) {
	t.Parallel()
	cert, key := keyPair(t)
	_, otherKey := keyPair(t)
	for _, c := range []struct {
		name string
		set  []string
		want string
	}{
		{"engine unknown", []string{"DB_HOST=db"}, "DB_TYPE: does not match DB_HOST"},
		{"sqlite on a host", []string{"DB_HOST=db", "DB_PORT=5432", "DB_TYPE=sqlite"}, "DB_TYPE: does not match DB_HOST"},
		{"no host", []string{"DB_TYPE=postgres"}, "DB_HOST: is required with DB_TYPE postgres"},
		{"no user", []string{"DB_TYPE=mysql", "DB_HOST=db"}, "DB_USER: is required with DB_TYPE mysql"},
		{"reader alone", []string{"DB_READER_HOST=db"}, "DB_READER_HOST: is set without DB_HOST"},
		{"certificate alone", []string{"TLS_CERT=" + cert}, "TLS_KEY: is required with TLS_CERT"},
		{"key alone", []string{"DB_SSL_KEY=" + key}, "DB_SSL_CERT: is required with DB_SSL_KEY"},
		{"other key", []string{"TLS_CERT=" + cert, "TLS_KEY=" + otherKey}, "TLS_KEY: does not belong to TLS_CERT"},
		{"chain alone", []string{"TLS_CA=" + cert}, "TLS_CA: is set without TLS_CERT"},
		{"text and path", []string{"TLS_CERT=" + cert, "TLS_KEY=" + key, "TLS_CERT_PATH=/x"}, "TLS_CERT_PATH (environment): is set together with TLS_CERT"},
		{"path to nothing", []string{"TLS_KEY_PATH=/no/such/key", "TLS_CERT=" + cert}, `TLS_KEY_PATH (environment): is the path "/no/such/key", which does not exist; accepted: the path of a readable file`},
		{"one key twice", []string{"BOOTSTRAP_ADMIN_KEY=sk-0123456789abcdef", "BOOTSTRAP_WORKSPACE_KEY=sk-0123456789abcdef"}, "BOOTSTRAP_WORKSPACE_KEY: must differ from BOOTSTRAP_ADMIN_KEY"},
		{"bodies beyond the journal", []string{"LOG_BODY_MAX_KB=8192", "JOURNAL_MAX_MB=300"}, "LOG_BODY_MAX_KB: exceeds what a journal of JOURNAL_MAX_MB 300 can store; accepted: at most 4800, or a JOURNAL_MAX_MB of at least 512"},
		{"mail without a server", []string{"SMTP_MAIL=ON", "SMTP_FROM=gw@acme.example"}, "SMTP_HOST: is required with SMTP_MAIL=ON"},
		{"mail from nobody", []string{"SMTP_MAIL=ON", "SMTP_HOST=mail"}, "SMTP_FROM: is required with SMTP_MAIL=ON"},
		{"mail from no address", []string{"SMTP_FROM=nobody"}, `SMTP_FROM (environment): "nobody" is not valid; accepted: an address such as gateway@example.com`},
		{"mail password alone", []string{"SMTP_PASSWORD=secret"}, "SMTP_USER: is required with SMTP_PASSWORD"},
		{"traces to nobody", []string{"EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED=ON"}, "EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: is required with EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED"},
		{"figures to nobody", []string{"OTEL_PUSH_ENABLED=ON"}, "OTEL_ENDPOINT: is required with OTEL_PUSH_ENABLED"},
		{"headers without a value", []string{"OTEL_EXPORTER_OTLP_HEADERS=api-key"}, "OTEL_EXPORTER_OTLP_HEADERS (environment): is not valid; accepted: comma-separated name=value pairs"},
		{"mail password in the clear", []string{"SMTP_USER=gw", "SMTP_TLS=none"}, "SMTP_TLS: is NONE, but a password requires TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Sources{Environ: c.set})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "PRIVATE KEY")
		})
	}
}

func TestTracesGoWhereEverythingGoes(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{Environ: []string{"OTEL_ENDPOINT=http://collector:4318", "OTEL_EXPORTER_OTLP_HEADERS=api-key=hidden", "OTEL_RESOURCE_ATTRIBUTES=team=search"}})
	require.NoError(t, err)
	o := l.Settings.OpenTelemetry
	assert.Equal(t, "http://collector:4318 api-key=hidden team=search", o.TracesEndpoint+" "+o.TracesHeaders.Reveal()+" "+o.TracesAttributes)
	assert.Equal(t, "OTEL_ENDPOINT", l.Origin("EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT"))

	l, err = config.Load(config.Sources{Environ: []string{"OTEL_ENDPOINT=http://collector:4318", "OTEL_EXPORTER_OTLP_HEADERS=api-key=hidden", "EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT=http://elsewhere:4318"}})
	require.NoError(t, err)
	assert.Empty(t, l.Settings.OpenTelemetry.TracesHeaders.Reveal(), "a credential does not go to another address")
}

func TestEncryptionKeysAreCurrentFirst(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{Environ: []string{
		"ENCRYPTION_KEY=current-0123456789,older-0123456789, oldest-0123456789",
	}})
	require.NoError(t, err)
	var got []string
	for _, key := range l.Settings.Security.EncryptionKeys() {
		got = append(got, string(key))
	}
	assert.Equal(t, []string{"current-0123456789", "older-0123456789", "oldest-0123456789"}, got)
	assert.Empty(t, config.Default().Security.EncryptionKeys())
}

// What is meant as a path is not sealed under, and the file's fault is named.
// The key file of a data directory can be given as it is.
func TestEncryptionKeysOfAFile(t *testing.T) {
	t.Parallel()
	path := write(t, "encryption.key", "the-newest-key-of-all\r\nthe-key-before-that-one\n")
	l, err := config.Load(config.Sources{Environ: []string{"ENCRYPTION_KEY=" + path}})
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte("the-newest-key-of-all"), []byte("the-key-before-that-one")}, l.Settings.Security.EncryptionKeys())
	_, err = config.Load(config.Sources{Environ: []string{"ENCRYPTION_KEY=" + write(t, "short", "the-newest-key-of-all\nshort\n")}})
	assert.ErrorContains(t, err, "at least 16 characters")
}

func TestPathsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const key, other = "/x8KdPvA0mJ5YqZtR3wLb7NcUe1HsGfVi2oTk9QyB4E=", "another-key-0123456789"
	for _, c := range []struct{ name, set, want string }{
		{"encryption key", "ENCRYPTION_KEY=/run/secrets/typo-of-the-key", `ENCRYPTION_KEY (environment): is the path "/run/secrets/typo-of-the-key", which does not exist; accepted: at least 16 characters`},
		{"letters of base64", "ENCRYPTION_KEY=/no/such/folder/master1", `is the path "/no/such/folder/master1", which does not exist`},
		{"folder that is there", "ENCRYPTION_KEY=/tmp/ABCDabcd0123ABCDabcd0", "which does not exist"},
		{"here", "ENCRYPTION_KEY=./encryption-key-of-mine", `"./encryption-key-of-mine", which does not exist`},
		{"folder", "ENCRYPTION_KEY=" + dir, "which is not a file"},
		{"older key", "ENCRYPTION_KEY=" + other + ",/no/such/older.key", `"/no/such/older.key", which does not exist`},
		{"sentence", "ENCRYPTION_KEY=/a secret sentence, hidden", "ENCRYPTION_KEY (environment): begins like a path, which does not exist"},
		{"first key", "BOOTSTRAP_ADMIN_KEY=/no/such/first-key", `is the path "/no/such/first-key", which does not exist`},
		{"workspace key", "BOOTSTRAP_WORKSPACE_KEY=" + dir, "which is not a file"},
		{"authority", "DB_SSL_CA=/nonexistent", `DB_SSL_CA (environment): is the path "/nonexistent", which does not exist; accepted: one or more certificates`},
		{"certificate", "TLS_CERT=/tmp/none.pem", `"/tmp/none.pem", which does not exist`},
		{"private key", "DB_SSL_KEY=../none.pem", `"../none.pem", which does not exist`},
		{"password", "DB_PASS=" + dir, "which is not a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Sources{Environ: []string{c.set}})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "hidden")
		})
	}
	file := write(t, "key", "key-in-a-file-0123456789\n")
	for set, want := range map[string]string{
		key:                    key,
		key + "," + other:      key + "," + other,
		file:                   "key-in-a-file-0123456789",
		other + ", " + file:    other + ",key-in-a-file-0123456789",
		strings.Trim(key, "="): strings.Trim(key, "="),
	} {
		l, err := config.Load(config.Sources{Environ: []string{"ENCRYPTION_KEY=" + set}})
		require.NoError(t, err, set)
		assert.Equal(t, want, l.Settings.Security.EncryptionKey.Reveal())
	}
}

func TestFilesThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read every file")
	}
	file := write(t, "secret", "key-in-a-file-0123456789\n")
	require.NoError(t, os.Chmod(file, 0))
	for _, name := range []string{"ENCRYPTION_KEY", "BOOTSTRAP_ADMIN_KEY", "TLS_CERT", "DB_PASS", "TLS_KEY_PATH"} {
		_, err := config.Load(config.Sources{Environ: []string{name + "=" + file}})
		assert.ErrorContains(t, err, name+" (environment): is the path \""+file+"\", which is not readable", name)
	}
}

// Where a value can be read again is known, the value itself is not told.
func TestPlaces(t *testing.T) {
	t.Parallel()
	secret := write(t, "key", "key-in-a-file-0123456789\n")
	file := write(t, "sluice.yaml", "# first\nbootstrap_admin_key: sk-0123456789abcdef\n")
	l, err := config.Load(config.Sources{File: file, Environ: []string{"BOOTSTRAP_WORKSPACE_KEY=" + secret, "DB_PASS=p"}, Flags: map[string]string{"log-level": "warn"}})
	require.NoError(t, err)
	assert.Equal(t, config.Source{File: file, Line: 2}, l.Source("BOOTSTRAP_ADMIN_KEY"))
	assert.Equal(t, config.Source{Content: secret}, l.Source("BOOTSTRAP_WORKSPACE_KEY"))
	assert.Equal(t, config.Source{Variable: "DB_PASS"}, l.Source("DB_PASS"))
	assert.Equal(t, config.Source{}, l.Source("LOG_LEVEL"))
}

func TestWhatIsUsableComesWithTheError(t *testing.T) {
	t.Parallel()
	l, err := config.LoadLenient(config.Sources{Environ: []string{"PORT=eighty", "LOG_LEVEL=warn"}})
	require.ErrorContains(t, err, "PORT")
	assert.Equal(t, 8787, l.Settings.Server.Port)
	assert.Equal(t, "warn", l.Settings.Telemetry.Level)
}

// A password may stand in every address, and in what somebody took for one.
func TestAddressesAreShownWithoutLogin(t *testing.T) {
	t.Parallel()
	environ := []string{"OTEL_ENDPOINT=http://name:hidden-1@127.0.0.1:1", "EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT=https://name:hid@den-2@collector:4318/path@2"}
	for _, name := range []string{"LOG_STORE_ENDPOINT", "MODEL_CONFIGS_PROXY_URL", "CONTROL_PLANE_URL", "MCP_GATEWAY_BASE_URL", "EMAIL_LOGO_URL", "EMAIL_DOCS_URL", "AZURE_AUTHORITY_HOST", "HTTP_PROXY"} {
		environ = append(environ, name+"=https://name:hidden-3@host.example/x")
	}
	l, err := config.Load(config.Sources{Environ: environ})
	require.NoError(t, err)
	listed := fmt.Sprint(l.Table())
	for _, part := range []string{"hid", "name:"} {
		assert.NotContains(t, listed, part)
	}
	for _, want := range []string{"OTEL_ENDPOINT http://***@127.0.0.1:1", "https://***@collector:4318/path@2", "MODEL_CONFIGS_PROXY_URL https://***@host.example/x"} {
		assert.Contains(t, listed, want)
	}

	for _, bad := range []string{
		"ANALYTICS_STORE_URL=http://name:hidden-1@ch:8123", "OTEL_ENDPOINT=ftp://name:hidden-1@host", "OTEL_ENDPOINT=name:hidden-1@host:4318",
		"OTEL_ENDPOINT=http://name:hidden-1/with/slash@host", "DB_HOST=postgres://name:hidden-1@db/sluice", "CORS_ALLOWED_ORIGINS=https://a.example,https://name:hidden-1@b.example",
	} {
		_, err := config.Load(config.Sources{Environ: []string{bad}})
		require.ErrorContains(t, err, "***@", bad)
		assert.NotContains(t, err.Error(), "hidden-1", bad)
	}
}

func TestNoSecretIsEverShown(t *testing.T) {
	t.Parallel()
	cert, key := keyPair(t)
	l, err := config.Load(config.Sources{Environ: []string{
		"DB_TYPE=postgres", "DB_HOST=db", "DB_USER=u", "DB_PASS=hidden-1", "DB_READER_HOST=r", "DB_READER_PASS=hidden-2",
		"ENCRYPTION_KEY=hidden-3-0123456789,hidden-4-0123456789",
		"BOOTSTRAP_ADMIN_KEY=hidden-5-0123456789", "BOOTSTRAP_WORKSPACE_KEY=hidden-6-0123456789",
		"HTTPS_PROXY=http://user:hidden-7@proxy.example:3128", "AWS_ASSUME_ROLE_SECRET_ACCESS_KEY=hidden-8",
		"TLS_CERT=" + cert, "TLS_KEY=" + key,
	}})
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("settings", "settings", l.Settings)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("settings", "settings", l.Settings)
	for _, printed := range []string{fmt.Sprint(l.Table()), fmt.Sprintf("%+v %#v", l.Settings, l.Settings), log.String()} {
		assert.NotContains(t, printed, "hidden-")
		assert.NotContains(t, printed, "PRIVATE KEY")
		assert.Contains(t, printed, "***")
	}
	assert.Contains(t, fmt.Sprint(l.Table()), "http://***@proxy.example:3128")
}
