package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

// write puts a file into a fresh directory and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// sameSecret lets cmp look into sealed strings.
var sameSecret = cmp.Comparer(func(a, b sealed.String) bool { return a.Equal(b.Reveal()) })

func TestDefaultIsWhatNobodySet(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(config.Default(), l.Settings, sameSecret))
	assert.Empty(t, l.Warnings)

	s := l.Settings
	assert.Equal(t, "127.0.0.1", s.Server.Listen)
	assert.Equal(t, 8787, s.Server.Port)
	assert.Equal(t, config.SQLite, s.Database.Type)
	assert.Equal(t, 12, s.Database.PoolSize)
	assert.Equal(t, 30*time.Second, s.Server.DrainTimeout)
	assert.Equal(t, 5*time.Minute, s.Upstream.StreamIdleTimeout)
	assert.EqualValues(t, 64<<20, s.Requests.MaxJSONBytes())
	assert.EqualValues(t, 512<<20, s.Requests.MaxUploadBytes())
	assert.Equal(t, 256<<10, s.Logs.BodyMaxBytes())
	assert.True(t, s.Features.Guardrails)
	assert.False(t, s.TLS.Enabled())
	assert.Equal(t, []string{"*"}, s.CORS.AllowedOrigins)
}

func TestEveryDefaultIsAccepted(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{})
	require.NoError(t, err)
	flags := map[string]string{}
	for _, row := range l.Table() {
		flags[row.Name] = row.Value
	}
	again, err := config.Load(config.Sources{Flags: flags})
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(l.Settings, again.Settings, sameSecret))
}

func TestStrongerSourceWins(t *testing.T) {
	t.Parallel()
	file := write(t, "sluice.yaml", "port: 1001\nlog_level: Debug\ndb_name: fromfile\ntrusted_custom_hosts:\n  - models.internal\n  - 10.0.0.7\n")
	l, err := config.Load(config.Sources{
		Environ: []string{config.FileVariable + "=" + file, "PORT=1002", "DB_NAME=", "LOG_FORMAT=json", "=C:=C:\\", "HOME=/root"},
		Flags:   map[string]string{"port": "1003", "connect-timeout": "2s"},
	})
	require.NoError(t, err)

	assert.Equal(t, 1003, l.Settings.Server.Port)
	assert.Equal(t, "command line", l.Origin("PORT"))
	assert.Equal(t, 2*time.Second, l.Settings.Upstream.ConnectTimeout)
	assert.Equal(t, "json", l.Settings.Telemetry.Format)
	assert.Equal(t, "environment", l.Origin("LOG_FORMAT"))
	assert.Equal(t, "debug", l.Settings.Telemetry.Level, "words are found in any case")
	assert.Equal(t, "fromfile", l.Settings.Database.Name, "an empty variable counts as not set")
	assert.Equal(t, "file "+file+" line 3", l.Origin("DB_NAME"))
	assert.Equal(t, []string{"models.internal", "10.0.0.7"}, l.Settings.Security.TrustedCustomHosts)
	assert.Equal(t, "default", l.Origin("LISTEN"))
}

func TestAcceptedForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, set string
		got       func(config.Settings) any
		want      any
	}{
		{"switch on", "BLOCK_INLINE_CONFIG=true", func(s config.Settings) any { return s.Security.BlockInlineConfig }, true},
		{"switch off", "SCIM_ENABLED=off", func(s config.Settings) any { return s.Features.SCIM }, false},
		{"milliseconds", "REQUEST_TIMEOUT=60000", func(s config.Settings) any { return s.Upstream.RequestTimeout }, time.Minute},
		{"duration", "REQUEST_TIMEOUT=1m30s", func(s config.Settings) any { return s.Upstream.RequestTimeout }, 90 * time.Second},
		{"list with keys", "HEADERS_TO_METADATA=x-openwebui-user-email:_user,x-team", func(s config.Settings) any { return s.Requests.HeadersToMetadata }, []string{"x-openwebui-user-email:_user", "x-team"}},
		{"list", "HEADERS_TO_METADATA= x-team, ,x-app ,", func(s config.Settings) any { return s.Requests.HeadersToMetadata }, []string{"x-team", "x-app"}},
		{"prefix", "HEADER_PREFIX_ALIASES=x-acme-", func(s config.Settings) any { return s.Requests.HeaderPrefixAliases }, []string{"x-acme-"}},
		{"header with capital letters", "CUSTOM_HEADERS_TO_IGNORE=X-Team", func(s config.Settings) any { return s.Requests.HeadersToIgnore }, []string{"x-team"}},
		{"header with a key in capital letters", "HEADERS_TO_METADATA=X-User:userName", func(s config.Settings) any { return s.Requests.HeadersToMetadata }, []string{"x-user:userName"}},
		{"header for metadata with capital letters", "HEADERS_TO_METADATA=X-Team", func(s config.Settings) any { return s.Requests.HeadersToMetadata }, []string{"x-team"}},
		{"prefix with capital letters", "HEADER_PREFIX_ALIASES=X-Acme-,x-OLD-", func(s config.Settings) any { return s.Requests.HeaderPrefixAliases }, []string{"x-acme-", "x-old-"}},
		{"white space", "PORT= 99 ", func(s config.Settings) any { return s.Server.Port }, 99},
		{"IPv6", "LISTEN=::", func(s config.Settings) any { return s.Server.Listen }, "::"},
		{"space in a password", "DB_PASS= two words ", func(s config.Settings) any { return s.Database.Pass.Reveal() }, " two words "},
		{"dollar in a password", "DB_PASS=a${HOME}$b", func(s config.Settings) any { return s.Database.Pass.Reveal() }, "a${HOME}$b"},
		{"proxy of curl", "https_proxy=http://10.1.1.1:3128", func(s config.Settings) any { return s.Upstream.HTTPSProxy.Reveal() }, "http://10.1.1.1:3128"},
		{"no proxy", "NO_PROXY=.corp.example,10.0.0.0/8", func(s config.Settings) any { return s.Upstream.NoProxy }, []string{".corp.example", "10.0.0.0/8"}},
		{"origins", "CORS_ALLOWED_ORIGINS=https://a.example,http://localhost:3000", func(s config.Settings) any { return s.CORS.AllowedOrigins }, []string{"https://a.example", "http://localhost:3000"}},
		{"role", "AWS_ASSUME_ROLE_SOURCE_ARN=arn:aws:iam::123456789012:role/team/gateway", func(s config.Settings) any { return s.Cloud.AWSSourceRoleARN }, "arn:aws:iam::123456789012:role/team/gateway"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{Environ: []string{c.set}})
			require.NoError(t, err)
			assert.Equal(t, c.want, c.got(l.Settings))
		})
	}
}

func TestUnusableValuesNameSettingAndForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, set, want string }{
		{"word for number", "PORT=eighty", `setting PORT (environment): "eighty" is not valid; accepted: an integer from 0 to 65535`},
		{"number too large", "DB_POOL_SIZE=1001", `"1001" is not valid; accepted: an integer from 1 to 1000`},
		{"negative time", "DRAIN_TIMEOUT=-1", "accepted: milliseconds from 0 to 3600000, or a duration such as 30s"},
		{"time below a millisecond", "CONNECT_TIMEOUT=100100us", "accepted: milliseconds from 100 to 600000"},
		{"switch", "SCIM_ENABLED=maybe", "accepted: ON or OFF (true and false mean the same)"},
		{"word", "DB_TYPE=oracle", `"oracle" is not valid; accepted: one of sqlite, postgres, mysql`},
		{"address with a bad port", "LISTEN=0.0.0.0:http", "accepted: a host name or an IP address, with or without a port, or a port alone after a colon"},
		{"port without its colon", "LISTEN=8080", `setting LISTEN (environment): "8080" is not valid; accepted: a host name`},
		{"address with a large port", "LISTEN=:65536", `setting LISTEN (environment): ":65536" is not valid; accepted: a host name`},
		{"brackets around IPv4", "LISTEN=[127.0.0.1]", `setting LISTEN (environment): "[127.0.0.1]" is not valid`},
		{"colon alone", "LISTEN=:", `setting LISTEN (environment): ":" is not valid`},
		{"credential under another name", "HEADERS_TO_METADATA=Authorization:name", `"Authorization:name" is not valid; accepted: a comma-separated list, each item a header name`},
		{"header without the other name", "HEADERS_TO_METADATA=x-user:", `"x-user:" is not valid; accepted: a comma-separated list, each item a header name`},
		{"header with two names", "HEADERS_TO_METADATA=x-user:a:b", `"x-user:a:b" is not valid; accepted: a comma-separated list, each item a header name`},
		{"credential for the log", "HEADERS_TO_METADATA=x-team,Authorization", `"x-team,Authorization" is not valid; accepted: a comma-separated list, each item a header name such as x-team, but not one with credentials, because the log contains metadata`},
		{"item of a list", "CUSTOM_HEADERS_TO_IGNORE=x-ok,x bad", `"x-ok,x bad" is not valid; accepted: a comma-separated list, each item a header name`},
		{"sign-on that does not run", "AUTH_MODE=SSO", "setting AUTH_MODE: is SSO, but sign-in through an identity provider is not implemented yet, so no user could sign in; accepted: LOCAL"},
		{"prefix without dash", "HEADER_PREFIX_ALIASES=xacme", "ends in a dash"},
		{"origin with path", "CORS_ALLOWED_ORIGINS=https://a.example/app", "accepted: a comma-separated list, each item an origin"},
		{"key like a JWT", "BOOTSTRAP_ADMIN_KEY=aaaaaaaaa.bbbbbbbbb.ccccccccc", "setting BOOTSTRAP_ADMIN_KEY (environment): is not valid"},
		{"short encryption key", "ENCRYPTION_KEY=hunter2", "accepted: at least 16 characters; several keys as a comma-separated list, the current one first, or the path of a file that contains it"},
		{"not PEM", "DB_SSL_CA=oops", "accepted: one or more certificates in PEM form, or the path of a file that contains it"},
		{"long value", "DB_NAME=" + strings.Repeat("x y", 50), "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Sources{Environ: []string{c.set}})
			var all *config.Error
			require.ErrorAs(t, err, &all)
			require.Len(t, all.Problems, 1)
			assert.Contains(t, err.Error(), c.want)
			_, value, _ := strings.Cut(c.set, "=")
			if strings.Contains(c.name, "key") {
				assert.NotContains(t, err.Error(), value, "secrets are not shown")
			}
			assert.Less(t, len(err.Error()), 300)
		})
	}
}

func TestProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "port: 8080\nportt: 1\nPORT: 3\nlog_level: loud\ncors: {origins: a}\nport: 8081\n")
	_, err := config.Load(config.Sources{
		File:    file,
		Environ: []string{"LISTEN=a b"},
		Flags:   map[string]string{"db-hots": "x", "verbose": "1"},
	})
	var all *config.Error
	require.ErrorAs(t, err, &all)
	got := strings.ReplaceAll(err.Error(), file, "s.yaml")
	assert.Equal(t, `8 settings are not valid:
  cors (file s.yaml line 5): is neither a plain value nor a list; accepted: one value, or a list of values without commas
  portt (file s.yaml line 2): is not a setting; did you mean port?
  PORT (file s.yaml line 3): is not a setting; did you mean port?
  port (file s.yaml line 6): is already set in line 1
  db-hots (command line): is not a setting; did you mean DB_HOST?
  verbose (command line): is not a setting
  LISTEN (environment): "a b" is not valid; accepted: a host name or an IP address, with or without a port, or a port alone after a colon: 127.0.0.1, [::1]:8787 or :8787
  LOG_LEVEL (file s.yaml line 4): "loud" is not valid; accepted: one of debug, info, warn, error`, got)
}

func TestNearMissesInTheEnvironmentWarn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, want string }{
		{"DB_PASSWORD", "DB_PASS"},
		{"DB_HOSTNAME", "DB_HOST"},
		{"DB_POOLSIZE", "DB_POOL_SIZE"},
		{"LOG_LEVELL", "LOG_LEVEL"},
		{"TLS_CERT_FILE", "TLS_CERT"},
		{"SLUICE_PORT", "PORT"},
		{"SLUICE_CONFIG", ""},
		{"LOG_SHIP", ""},
		{"DBUS_SESSION_BUS_ADDRESS", ""},
		{"PORTS", ""},
	} {
		t.Run(c.variable, func(t *testing.T) {
			t.Parallel()
			file := write(t, "empty.yaml", "# nothing yet\n")
			l, err := config.Load(config.Sources{Environ: []string{"SLUICE_CONFIG=" + file, c.variable + "=" + file}})
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, l.Warnings)
				return
			}
			require.Len(t, l.Warnings, 1)
			assert.Contains(t, l.Warnings[0], c.variable+" is not a setting")
			assert.Contains(t, l.Warnings[0], "did you mean "+c.want+"?")
		})
	}
}

// Files are read as editors and other tools write them.
func TestFilesOfOtherTools(t *testing.T) {
	t.Parallel()
	pass := write(t, "pass", "\uFEFFs3cret\r\n")
	for name, text := range map[string]string{
		"byte order mark": "\uFEFFport: 9001\r\ndb_pass: " + pass + "\r\n",
		"quoted keys":     `{"port": 9001, 'db_pass': "` + pass + `"}`,
	} {
		l, err := config.Load(config.Sources{File: write(t, "s.yaml", text)})
		require.NoError(t, err, name)
		assert.Equal(t, 9001, l.Settings.Server.Port, name)
		assert.Equal(t, "s3cret", l.Settings.Database.Pass.Reveal(), name)
	}
	_, err := config.Load(config.Sources{File: write(t, "s.yaml", "\"port\": 9001\nport: 9002\n")})
	assert.ErrorContains(t, err, "port (file ")
	assert.ErrorContains(t, err, "is already set in line 1")
}

// Nobody waits for a pipe into which nobody writes.
func TestPipesAreNoFiles(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, src := range []config.Sources{{File: pipe}, {Environ: []string{"DB_PASS=" + pipe}}, {Environ: []string{"TLS_CERT_PATH=" + pipe}}} {
		loaded := make(chan error, 1)
		go func() {
			_, err := config.Load(src)
			loaded <- err
		}()
		select {
		case err := <-loaded:
			assert.ErrorContains(t, err, "is not a file")
		case <-time.After(10 * time.Second):
			t.Fatal("it waits for somebody who writes")
		}
	}
}

func TestMissingSettingsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "does not exist",
		dir:                             "is not a file",
	} {
		_, err := config.Load(config.Sources{File: path})
		var all *config.Error
		require.True(t, errors.As(err, &all), path)
		assert.Contains(t, err.Error(), want)
	}
}

// TestWhatIsShownCanBeGivenAgain feeds the listing back as flags.
func TestWhatIsShownCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		settings := map[string]string{
			"PORT":                 rapid.StringMatching(`[1-9][0-9]{0,3}`).Draw(t, "port"),
			"SCIM_ENABLED":         rapid.SampledFrom([]string{"ON", "off", "TRUE", "false"}).Draw(t, "switch"),
			"REQUEST_TIMEOUT":      rapid.StringMatching(`[0-9]{1,4}(ms|s)?`).Draw(t, "time"),
			"LOG_LEVEL":            rapid.SampledFrom([]string{"debug", "INFO", "Warn", "error"}).Draw(t, "word"),
			"TRUSTED_CUSTOM_HOSTS": rapid.StringMatching(`([a-z]{1,5}( ?, ?[a-z*.]{1,5}){0,4})?`).Draw(t, "list"),
		}
		if settings["REQUEST_TIMEOUT"] != "0" && strings.Trim(settings["REQUEST_TIMEOUT"], "0") == "" {
			settings["REQUEST_TIMEOUT"] = "0"
		}
		first, err := config.Load(config.Sources{Flags: settings})
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]string{}
		for _, row := range first.Table() {
			listed[row.Name] = row.Value
		}
		second, err := config.Load(config.Sources{Flags: listed})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first.Settings, second.Settings, sameSecret); diff != "" {
			t.Fatal(diff)
		}
	})
}
