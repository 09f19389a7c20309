package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// The first start prints its keys, both work, and the file that seals what is
// stored is for its owner alone. The second start prints none and has lost nothing.
func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t, withGeneratedKeys())
	g.key = g.printed("its workspace key", `Workspace key +(\S+)\n`)
	admin := g.printed("its Admin key", `Admin key +(\S+)\n`)
	if g.key == "" || admin == "" || g.key == admin {
		t.Fatalf("keys %q and %q", admin, g.key)
	}
	a := g.chat(custom(up)...)
	id := a.Header.Get("x-gateway-request-id")
	g.awaitLog(id)
	g.saveProvider("kept", up)
	config := g.saveConfig("Kept", `{"provider":"@kept","override_params":{"temperature":0.25}}`)
	g.stop()
	if mode := mode(t, filepath.Join(g.dir)); mode != 0o700 {
		t.Errorf("the data directory has mode %o", mode)
	}

	again := g.again()
	if out := again.child.out.String(); strings.Contains(out, "sk-") || strings.Contains(again.child.err.String(), g.key) {
		t.Errorf("the second start prints secrets: %s", out)
	}
	again.chat("x-gateway-provider: @kept")
	saved := again.chat("x-gateway-config: " + config)
	if !strings.Contains(saved.Body, "temperature 0.25") {
		t.Errorf("the saved config is gone: %s", saved.Body)
	}
	again.call("GET", "/v1/workspaces", "", "x-gateway-api-key: "+admin).want(t, 200)
	if log := again.awaitLog(id); !strings.Contains(log.Body, "Hello there") {
		t.Errorf("the log has no bodies: %s", log.Body)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// Keys that the deployment fixes are those that work.
func TestBootstrapKeysAreFixed(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.chat(custom(up)...)
	g.call("GET", "/v1/workspaces", "", "x-gateway-api-key: "+adminKey).want(t, 200)
	for _, key := range []string{"", "sk-e2e-another-key-0123456789abcdef"} {
		g.call("POST", "/v1/chat/completions", hello, append(custom(up), "x-gateway-api-key: "+key)...).want(t, 401)
	}
	// An Admin key administers; model traffic needs a key of a workspace.
	g.call("POST", "/v1/chat/completions", hello, append(custom(up), "x-gateway-api-key: "+adminKey)...).want(t, 403)
	if n := up.Total(); n != 1 {
		t.Errorf("%d requests went upstream, want 1", n)
	}
}

// Settings that cannot be used stop the start, with a message that names each.
func TestBadSettingsStopTheStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(file, []byte("listne: 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		env    []string
		args   []string
		output []string
	}{
		{"a number out of range", []string{"PORT=70000"}, nil, []string{"PORT", "70000", "65535"}},
		{"a flag's value", nil, []string{"--port", "http"}, []string{"PORT", "http"}},
		{"two at once", []string{"DB_SSL=MAYBE", "DRAIN_TIMEOUT=soon"}, nil, []string{"DB_SSL", "VERIFY_IDENTITY", "DRAIN_TIMEOUT", "30s"}},
		{"a flag that nobody knows", nil, []string{"--lisen", "x"}, []string{"lisen"}},
		{"a setting that nobody knows", nil, []string{"--set", "LISTNE=x"}, []string{"LISTNE"}},
		{"a key in the file that nobody knows", nil, []string{"--config", file}, []string{"listne"}},
		{"a certificate without its key", []string{"TLS_CERT=nothing of the kind"}, nil, []string{"TLS_CERT"}},
		{"a database that is not there", []string{"DB_TYPE=postgres", "DB_HOST=127.0.0.1", "DB_PORT=1", "DB_USER=u", "DB_PASS=secret-password"}, nil, []string{"database", "127.0.0.1"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := refusedStart(t, c.env, c.args...)
			for _, s := range c.output {
				if !strings.Contains(out, s) {
					t.Errorf("it does not name %s:\n%s", s, out)
				}
			}
			if strings.Contains(out, "secret-password") {
				t.Errorf("it names a password:\n%s", out)
			}
		})
	}
}

// refusedStart starts a gateway that must not come up, and returns what it says.
func refusedStart(t *testing.T, env []string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	c := spawn(t, dir, binary, env, append([]string{"serve", "--listen", "127.0.0.1", "--data-dir", filepath.Join(dir, "data")}, args...)...)
	if code := c.ended(t); code == 0 {
		t.Errorf("it ended with 0")
	}
	return c.out.String() + c.err.String()
}

// A newcomer's first minutes: start the demo, paste the line that it printed, find
// the call in the log.
func TestDemo(t *testing.T) {
	t.Parallel()
	g := start(t, command("demo"), withGeneratedKeys())
	g.key = g.printed("its workspace key", `Workspace key +(\S+)\n`)
	line := g.printed("a first call", `(?s)(  curl .*\}')\n`)
	out, err := exec.Command("sh", "-c", line+" -sS -i").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	head, body, _ := strings.Cut(string(out), "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 200") || !strings.Contains(body, `You said: \"Hello\"`) {
		t.Fatalf("%s", out)
	}
	id := headerOf(head, "x-gateway-request-id")
	log := g.awaitLog(id)
	if !strings.Contains(log.Body, `\"Hello\"`) {
		t.Errorf("log: %s", log.Body)
	}
	list := g.call("GET", "/v1/logs", "").want(t, 200)
	if list.get("data.#").Int() != 1 || list.get("data.0.id").String() != id {
		t.Errorf("list: %s", list.Body)
	}
	g.stop()
	again := g.again()
	again.chat() // the scripted provider has another port now
}

func headerOf(head, name string) string {
	for line := range strings.SplitSeq(head, "\r\n") {
		if k, v, _ := strings.Cut(line, ": "); strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}
