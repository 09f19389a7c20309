package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// Ten migrations at once leave one sound database, on every engine.
func TestTenMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, storage option) {
		l := launch{dir: filepath.Join(t.TempDir(), "data")}
		storage(&l)
		var all []*child
		for range 10 {
			all = append(all, spawn(t, t.TempDir(), binary, l.env, "migrate", "--data-dir", l.dir))
		}
		for _, c := range all {
			if code := c.ended(t); code != 0 || !strings.Contains(c.out.String(), "up to date") {
				t.Errorf("it ended with %d: %s%s", code, c.out, c.err)
			}
		}
		g := start(t, storage, withDir(l.dir))
		g.do(adminKey, "GET", "/v1/workspaces", nil)
	})
}

// Keys from the command line work within a second on the gateway that runs, and
// have the scopes that were asked for.
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
	full, narrow, admin := create("--name", "ci"), create("--name", "reader", "--scopes", "logs.list"), create("--name", "root", "--type", "organisation-service")
	status := func(key string) int {
		return g.call("POST", "/v1/chat/completions", hello, append(custom(up), "x-gateway-api-key: "+key)...).Status
	}
	eventually(t, inForce, "the last of the keys is known", func() bool {
		return g.call("GET", "/v1/workspaces", "", "x-gateway-api-key: "+admin).Status == 200
	})
	if s := status(full); s != 200 {
		t.Errorf("a key with all scopes gets %d", s)
	}
	if s := status(narrow); s != 403 {
		t.Errorf("a key without the scope gets %d", s)
	}
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
		if got := cli(t, nil, "keys", "rotate-encryption", "--data-dir", g.dir); got.code != 0 || !strings.Contains(got.out, "sealed with the current key") {
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
		start(t, withDir(g.dir), with("ENCRYPTION_KEY="+next)).chat("x-gateway-provider: @sealed")
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
