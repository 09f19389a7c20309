package e2e

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/test/upstream"
)

// said is what a command that has ended came to.
type said struct {
	code     int
	out, err string
}

// cli runs a command to its end.
func cli(t testing.TB, env []string, args ...string) said {
	t.Helper()
	c := spawn(t, t.TempDir(), binary, env, args...)
	code := c.ended(t)
	return said{code, c.out.String(), c.err.String()}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	if v := cli(t, nil, "version"); v.code != 0 || v.out != "sluice "+version+"\n" {
		t.Errorf("version: %+v", v)
	}
	commands := []string{"serve", "demo", "migrate", "doctor", "config", "keys create", "keys rotate-encryption", "healthcheck", "version"}
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

// The doctor finds a sound deployment sound, and names each thing that is not,
// with its cure. It reaches providers through the proxy that the settings name.
func TestDoctor(t *testing.T) {
	t.Parallel()
	provider := upstream.StartTLS(t, upstream.CertNames("api.openai.com"))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(provider.CAPEM()))
	env := []string{"HTTPS_PROXY=" + tunnel(t, provider.Addr()), "SSL_CERT_FILE=" + ca}
	data := filepath.Join(t.TempDir(), "data")
	well := cli(t, env, "doctor", "--listen", "127.0.0.1:0", "--data-dir", data)
	if well.code != 0 || strings.Contains(well.out, "FAIL") {
		t.Errorf("it ended with %d:\n%s%s", well.code, well.out, well.err)
	}
	for _, subject := range []string{"settings", "disk", "sealing", "database", "tls", "listener", "clock", "upstream"} {
		if !strings.Contains(well.out, "ok    "+subject) {
			t.Errorf("it says nothing of %s:\n%s", subject, well.out)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	write(t, filepath.Join(data, "..", "plain"), "a file where a directory should be")
	ill := cli(t, []string{"HTTPS_PROXY=" + upstream.Refused(t), "DB_TYPE=mysql", "DB_HOST=127.0.0.1", "DB_PORT=1", "DB_USER=u"},
		"doctor", "--listen", taken.Addr().String(), "--data-dir", filepath.Join(data, "..", "plain", "data"))
	if ill.code == 0 {
		t.Errorf("it finds nothing wrong:\n%s", ill.out)
	}
	for _, mark := range []string{"FAIL  disk", "FAIL  database", "FAIL  listener", "FAIL  upstream", "set DATA_DIR", "check DB_TYPE", "LISTEN and PORT", "HTTPS_PROXY"} {
		if !strings.Contains(ill.out, mark) {
			t.Errorf("it does not say %q:\n%s", mark, ill.out)
		}
	}
}

// tunnel is an HTTP proxy that leads every CONNECT to one address, so that a
// program believes that it talks to the world. It returns the proxy's URL.
func tunnel(t testing.TB, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", to)
		if r.Method != http.MethodConnect || err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer far.Close()
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer near.Close()
		_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n") // the caller may have left
		go func() {
			_, _ = io.Copy(far, near)
			_ = far.Close()
		}()
		_, _ = io.Copy(near, far)
	})}
	go func() { _ = srv.Serve(l) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}

// Ten migrations at once leave one sound database, on every engine.
func TestTenMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, place option) {
		l := launch{dir: filepath.Join(t.TempDir(), "data")}
		place(&l)
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() {
				if got := cli(t, l.env, "migrate", "--data-dir", l.dir); got.code != 0 || !strings.Contains(got.out, "up to date") {
					t.Errorf("%+v", got)
				}
			})
		}
		work.Wait()
		g := start(t, place, in(l.dir))
		g.do(adminKey, "GET", "/v1/workspaces", nil)
	})
}

// A key from the command line works at once on the gateway that runs, and has the
// scopes that were asked for.
func TestKeysCreate(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	create := func(args ...string) string {
		got := cli(t, nil, append([]string{"keys", "create", "--data-dir", g.dir}, args...)...)
		if got.code != 0 {
			t.Fatalf("%v: %+v", args, got)
		}
		return strings.TrimSpace(got.out)
	}
	whole, narrow, admin := create("--name", "ci"), create("--name", "reader", "--scopes", "logs.list"), create("--name", "root", "--type", "organisation-service")
	status := func(key string) int {
		return g.call("POST", "/v1/chat/completions", hello, append(custom(up), "x-gateway-api-key: "+key)...).Status
	}
	eventually(t, time.Second, "the new key works", func() bool { return status(whole) == 200 })
	if s := status(narrow); s != 403 {
		t.Errorf("a key without the scope gets %d", s)
	}
	g.do(admin, "GET", "/v1/workspaces", nil)
	bad := cli(t, nil, "keys", "create", "--data-dir", g.dir, "--name", "x", "--scopes", "no.such.scope")
	if bad.code == 0 || !strings.Contains(bad.err, "no.such.scope") {
		t.Errorf("an unknown scope: %+v", bad)
	}
	if nowhere := cli(t, nil, "keys", "create", "--data-dir", g.dir, "--name", "x", "--workspace", "nowhere"); nowhere.code == 0 || !strings.Contains(nowhere.err, "nowhere") {
		t.Errorf("an unknown workspace: %+v", nowhere)
	}
}

// After the sealing key was rotated everything stored still opens, under the new
// key alone.
func TestRotateEncryption(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	t.Run("key file", func(t *testing.T) {
		t.Parallel()
		g := start(t)
		g.saveProvider("sealed", up)
		g.stop()
		before := keyFile(t, g.dir)
		if got := cli(t, nil, "keys", "rotate-encryption", "--data-dir", g.dir); got.code != 0 || !strings.Contains(got.out, "sealed under the current key") {
			t.Fatalf("%+v", got)
		}
		if keyFile(t, g.dir) == before {
			t.Error("the key file is the old one")
		}
		g.again().chat("x-gateway-provider: @sealed")
	})
	t.Run("ENCRYPTION_KEY", func(t *testing.T) {
		t.Parallel()
		const old, next = "the-old-key-0123456789", "the-new-key-0123456789"
		g := start(t, with("ENCRYPTION_KEY="+old))
		g.saveProvider("sealed", up)
		g.stop()
		if got := cli(t, []string{"ENCRYPTION_KEY=" + next + "," + old}, "keys", "rotate-encryption", "--data-dir", g.dir); got.code != 0 {
			t.Fatalf("%+v", got)
		}
		start(t, in(g.dir), with("ENCRYPTION_KEY="+next)).chat("x-gateway-provider: @sealed")
		if out := refusedStart(t, []string{"ENCRYPTION_KEY=" + old}, "--data-dir", g.dir); !strings.Contains(out, "ENCRYPTION_KEY") {
			t.Errorf("the old key: %s", out)
		}
	})
}

// keyFile is the content of the file that seals what is stored, which must be for
// its owner alone.
func keyFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.key"))
	if err != nil || len(found) != 1 {
		t.Fatalf("key files %v: %v", found, err)
	}
	if m := mode(t, found[0]); m != 0o600 {
		t.Errorf("%s has mode %o", found[0], m)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	g := start(t)
	address := strings.TrimPrefix(g.base, "http://")
	if got := cli(t, nil, "healthcheck", "--listen", address); got.code != 0 {
		t.Errorf("running: %+v", got)
	}
	g.stop()
	if got := cli(t, nil, "healthcheck", "--listen", address); got.code == 0 || !strings.Contains(got.err, "does not answer") {
		t.Errorf("stopped: %+v", got)
	}
}
