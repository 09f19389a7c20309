package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice/internal/store/storetest"
	"sluice/test/upstream"
)

// The official clients, for Node and for Go, against a gateway in front of our own
// upstream and in front of aimock. The one in front of our own has TLS, which the
// realtime client insists on.
func TestOfficialClients(t *testing.T) {
	t.Parallel()
	t.Run("upstream", func(t *testing.T) {
		t.Parallel()
		up := upstream.Start(t)
		ca := storetest.NewCA(t)
		g := start(t, secure(t, ca))
		g.saveAddress("peer", up.URL()+"/v1")
		pem := filepath.Join(t.TempDir(), "ca.pem")
		write(t, pem, ca.PEM)
		g.runClients(t, "upstream", "NODE_EXTRA_CA_CERTS="+pem, "SSL_CERT_FILE="+pem)
	})
	t.Run("aimock", func(t *testing.T) {
		t.Parallel()
		node := needNode(t)
		mock := spawn(t, "node", node, nil, "aimock.mjs")
		url := mock.await(t, "its URL", func(text string) string {
			line, _, _ := strings.Cut(text, "\n")
			return line
		})
		g := start(t)
		g.saveAddress("peer", url+"/v1")
		g.runClients(t, "aimock")
	})
}

// runClients runs the suites of both clients; what they must know of the gateway is
// in their environment.
func (g *gateway) runClients(t *testing.T, peer string, env ...string) {
	env = append(env, "SLUICE_BASE="+g.base+"/v1", "SLUICE_KEY="+g.key, "SLUICE_PROVIDER=@peer", "SLUICE_PEER="+peer)
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		node := needNode(t)
		files, err := filepath.Glob("node/*.test.mjs")
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests for Node: %v", err)
		}
		for i, f := range files {
			files[i] = filepath.Base(f)
		}
		out := suite(t, "node", node, env, append([]string{"--test", "--test-reporter=tap"}, files...)...)
		if peer == "upstream" && !strings.Contains(out, "\n# skipped 0\n") {
			t.Errorf("our own upstream serves everything, but tests were skipped:\n%s", out)
		}
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		needGoClient(t)
		suite(t, "sdk", "go", append(goSettings(), env...), "test", "-count=1", "./...")
	})
}

// suite runs the tests of a client to their end and returns what they print.
func suite(t *testing.T, dir, name string, env []string, args ...string) string {
	t.Helper()
	c := spawn(t, dir, name, env, args...)
	if code := c.ended(t); code != 0 {
		t.Errorf("%s %s ended with %d:\n%s%s", name, strings.Join(args, " "), code, c.out, c.err)
	}
	return c.out.String()
}

// goSettings is what the environment says about building with Go.
func goSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool { return !strings.HasPrefix(s, "GO") })
}

// oldestNode is the major version that the modules of test/e2e/node need.
const oldestNode = 20

// needNode finds Node with the modules of test/e2e/node. With CI set they are
// installed when they are missing.
func needNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		storetest.Missing(t, "Node is not installed")
	}
	major, err := exec.Command(node, "-p", "process.versions.node.split('.')[0]").Output()
	if n, _ := strconv.Atoi(strings.TrimSpace(string(major))); err != nil || n < oldestNode {
		storetest.Missing(t, "Node %d or later is needed, %s is %s", oldestNode, node, major)
	}
	if err := modules(); err != nil {
		storetest.Missing(t, "%v", err)
	}
	return node
}

// modules sees once, however many tests ask, that the modules of Node are there.
var modules = sync.OnceValue(func() error {
	if _, err := os.Stat("node/node_modules/.package-lock.json"); err == nil { // npm writes it last
		return nil
	}
	if os.Getenv("CI") == "" {
		return errors.New("the modules of Node are not installed: run npm ci in test/e2e/node")
	}
	install := exec.Command("npm", "ci", "--no-fund", "--no-audit")
	install.Dir = "node"
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// needGoClient makes sure that the module of the Go client is at hand.
func needGoClient(t *testing.T) {
	t.Helper()
	get := exec.Command("go", "mod", "download")
	get.Dir = "sdk"
	if out, err := get.CombinedOutput(); err != nil {
		storetest.Missing(t, "the OpenAI client for Go cannot be had: %v\n%s", err, out)
	}
}
