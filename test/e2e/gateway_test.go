package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/storage/sqlstore"
)

// The keys of every deployment that a test does not leave to make its own.
const (
	adminKey     = "sk-e2e-admin-key-0123456789abcdef"
	workspaceKey = "sk-e2e-workspace-key-0123456789abcdef"
)

// gateway is a running binary.
type gateway struct {
	t     testing.TB
	dir   string // DATA_DIR
	base  string // "http://127.0.0.1:41234"
	key   string // of the workspace
	child *child
	http  *http.Client
	plan  launch
}

// launch is how a gateway is started.
type launch struct {
	command string // "serve"
	dir     string // DATA_DIR
	env     []string
	args    []string
	roots   *x509.CertPool // whom the client trusts
}

type option func(*launch)

// with sets settings, each "NAME=value".
func with(settings ...string) option {
	return func(l *launch) { l.env = append(l.env, settings...) }
}

// command starts another command than serve.
func command(name string) option { return func(l *launch) { l.command = name } }

// withDir keeps the data in a directory.
func withDir(dir string) option { return func(l *launch) { l.dir = dir } }

// withGeneratedKeys lets the first start make up its keys.
func withGeneratedKeys() option {
	return with("BOOTSTRAP_ADMIN_KEY=", "BOOTSTRAP_WORKSPACE_KEY=")
}

// withDatabase keeps the control plane in a database. Nodes of one database share a sealing
// key.
func withDatabase(s sqlstore.Settings) option {
	if s.Engine == sqlstore.SQLite {
		return with()
	}
	w := s.Writer
	return with("DB_TYPE="+s.Engine, "DB_HOST="+w.Host, "DB_PORT="+strconv.Itoa(w.Port), "DB_USER="+w.User,
		"DB_PASS="+w.Pass.Reveal(), "DB_NAME="+w.Name, "ENCRYPTION_KEY=a sealing key of the end-to-end tests")
}

// start starts a gateway on a free port of 127.0.0.1 and waits until it listens.
func start(t testing.TB, opts ...option) *gateway {
	t.Helper()
	l := newLaunch(t, opts...)
	return l.await(t, l.spawn(t))
}

func newLaunch(t testing.TB, opts ...option) launch {
	t.Helper()
	l := launch{
		command: "serve",
		dir:     filepath.Join(t.TempDir(), "data"),
		env: []string{
			"BOOTSTRAP_ADMIN_KEY=" + adminKey, "BOOTSTRAP_WORKSPACE_KEY=" + workspaceKey,
			"TRUSTED_CUSTOM_HOSTS=127.0.0.1", "LOG_LEVEL=warn", "ADMIN_REQUESTS_PER_MINUTE=0",
		},
	}
	for _, o := range opts {
		o(&l)
	}
	return l
}

// shared reports whether the control plane is in a database that other nodes can
// use too.
func (l launch) shared() bool {
	return slices.ContainsFunc(l.env, func(s string) bool { return strings.HasPrefix(s, "DB_HOST=") })
}

func (l launch) spawn(t testing.TB) *child {
	t.Helper()
	args := append([]string{l.command, "--listen", "127.0.0.1:0", "--data-dir", l.dir}, l.args...)
	return spawn(t, filepath.Dir(l.dir), binary, l.env, args...)
}

// await waits until a spawned gateway listens.
func (l launch) await(t testing.TB, c *child) *gateway {
	t.Helper()
	g := &gateway{t: t, dir: l.dir, key: workspaceKey, child: c, plan: l}
	g.base = c.await(t, "its address", address)
	g.http = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{RootCAs: l.roots}, ForceAttemptHTTP2: true}}
	t.Cleanup(g.http.CloseIdleConnections)
	return g
}

var listens = regexp.MustCompile(` listens on (https?://\S+)/v1\n`)

func address(text string) string {
	if m := listens.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// again starts the same gateway once more, on another port.
func (g *gateway) again() *gateway {
	g.t.Helper()
	next := g.plan.await(g.t, g.plan.spawn(g.t))
	next.key = g.key
	return next
}

// stop ends the gateway in order; anything but exit code 0 fails the test.
func (g *gateway) stop() {
	g.t.Helper()
	g.http.CloseIdleConnections()
	g.child.terminate(g.t)
	if code := g.child.ended(g.t); code != 0 {
		g.t.Fatalf("it ended with %d:\n%s", code, g.child.err)
	}
}

// printed waits for a match of a pattern in what is printed, and returns its group.
func (g *gateway) printed(what, pattern string) string {
	g.t.Helper()
	re := regexp.MustCompile(pattern)
	return g.child.await(g.t, what, func(text string) string {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	})
}
