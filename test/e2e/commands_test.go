package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commandResult is what a command that has ended came to.
type commandResult struct {
	code     int
	out, err string
}

// cli runs a command to its end.
func cli(t testing.TB, env []string, args ...string) commandResult {
	t.Helper()
	c := spawn(t, t.TempDir(), binary, env, args...)
	code := c.ended(t)
	return commandResult{code, c.out.String(), c.err.String()}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, argument := range []string{"version", "--version"} {
		if v := cli(t, nil, argument); v.code != 0 || v.out != "sluice "+version+"\n" {
			t.Errorf("%s: %+v", argument, v)
		}
	}
	commands := []string{"serve", "demo", "migrate", "doctor", "config", "keys create", "keys rotate-encryption", "audit verify", "audit export", "audit public-key", "limits nodes", "limits forget", "healthcheck", "version"}
	all := cli(t, nil, "--help")
	if all.code != 0 {
		t.Errorf("--help ends with %d: %s", all.code, all.err)
	}
	for _, c := range commands {
		if !strings.Contains(all.out, c) {
			t.Errorf("--help does not name %q:\n%s", c, all.out)
		}
		one := cli(t, nil, append(strings.Fields(c), "--help")...)
		if one.code != 0 || !strings.Contains(one.out, "--data-dir") || len(one.out) < 200 {
			t.Errorf("%s --help ends with %d: %s%s", c, one.code, one.out, one.err)
		}
		bad := cli(t, nil, append(strings.Fields(c), "--no-such-flag")...)
		if bad.code == 0 || !strings.Contains(bad.out+bad.err, "--no-such-flag") {
			t.Errorf("%s --no-such-flag ends with %d: %s%s", c, bad.code, bad.out, bad.err)
		}
	}
	if none := cli(t, nil, "sevre"); none.code == 0 || !strings.Contains(none.out+none.err, "sevre") {
		t.Errorf("an unknown command: %+v", none)
	}
}

// The settings in force are shown with where they come from; secrets are not.
func TestConfigShowsWhereSettingsComeFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "sluice.yaml"), filepath.Join(dir, "password")
	write(t, file, "db_pool_size: 7\nport: 1111\n")
	write(t, secret, "a-password-in-a-file\n")
	got := cli(t, []string{"PORT=2222", "LOG_LEVEL=error", "DB_PASS=" + secret, "ENCRYPTION_KEY=an-encryption-key-of-the-test",
		"HTTPS_PROXY=http://user:proxy-password@127.0.0.1:3128"}, "config", "--config", file, "--log-level", "debug")
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	values := map[string][]string{}
	for line := range strings.SplitSeq(got.out, "\n") {
		if f := strings.Fields(line); len(f) >= 3 {
			values[f[0]] = f[1:]
		}
	}
	for _, want := range []struct{ name, value, origin string }{
		{"DB_POOL_SIZE", "7", "file"}, {"PORT", "2222", "env"}, {"LOG_LEVEL", "debug", "command line"}, {"LISTEN", "127.0.0.1", "default"},
	} {
		v := values[want.name]
		if len(v) < 2 || v[0] != want.value || !strings.Contains(strings.Join(v[1:], " "), want.origin) {
			t.Errorf("%s is shown as %q, want %s from %s", want.name, v, want.value, want.origin)
		}
	}
	for _, s := range []string{"a-password-in-a-file", "an-encryption-key-of-the-test", "proxy-password"} {
		if strings.Contains(got.out+got.err, s) {
			t.Errorf("it shows the secret %s", s)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	g := start(t)
	address := strings.TrimPrefix(g.base, "http://")
	if got := cli(t, nil, "healthcheck", "--listen", address); got.code != 0 {
		t.Errorf("running: %+v", got)
	}
	g.stop()
	if got := cli(t, nil, "healthcheck", "--listen", address); got.code == 0 || !strings.Contains(got.err, "does not respond") {
		t.Errorf("stopped: %+v", got)
	}
}
