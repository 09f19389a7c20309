package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
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
	files, err := filepath.Glob("node/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests for Node: %v", err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	g.runSuites(t, peer, files, ".", env...)
}

// runSuites runs files of tests for Node, and the tests of the Go module that a
// pattern names.
func (g *gateway) runSuites(t *testing.T, peer string, files []string, pattern string, env ...string) {
	env = append(env, "SLUICE_BASE="+g.base+"/v1", "SLUICE_KEY="+g.key, "SLUICE_PROVIDER=@peer", "SLUICE_PEER="+peer, "SLUICE_STOCK_KEY="+g.stockKey())
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		node := needNode(t)
		out := suite(t, "node", node, env, append([]string{"--test", "--test-reporter=tap"}, files...)...)
		for line := range strings.Lines(out) {
			if peer == "upstream" && strings.Contains(line, "# SKIP") && !strings.Contains(line, "upstream does not serve it") {
				t.Errorf("our own upstream serves all of OpenAI's API, but a test was skipped: %s", line)
			}
		}
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		suite(t, "sdk", needGoClients(t), env, "-test.run", pattern)
	})
}

// stockKey makes a key whose calls go to the peer unless they say otherwise.
func (g *gateway) stockKey() string {
	config := g.saveConfig("To the peer", `{"provider":"@peer"}`)
	key := g.do(g.key, "POST", "/v1/api-keys/workspace/service", object{
		"name": "stock", "scopes": []string{"completions.write"}, "defaults": object{"config_id": config},
	}).get("key").String()
	eventually(g.t, inForce, "the key is known", func() bool {
		return g.call("POST", "/v1/chat/completions", "{}", "x-gateway-api-key: "+key).Status == 400
	})
	return key
}

// suite runs the tests of a client to their end and returns what they print.
func suite(t *testing.T, dir, name string, env []string, args ...string) string {
	t.Helper()
	c := spawn(t, dir, name, env, args...)
	if code := c.endedWithin(t, suiteLimit); code != 0 {
		t.Errorf("%s %s ended with %d:\n%s%s", name, strings.Join(args, " "), code, c.out, c.err)
	}
	return c.out.String()
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
	if installed() {
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

// installed reports whether npm has installed what package.json asks for, and not less
// of an earlier time.
func installed() bool {
	if _, err := os.Stat("node/node_modules/.package-lock.json"); err != nil { // npm writes it last
		return false
	}
	var manifest struct{ Dependencies map[string]string }
	b, err := os.ReadFile("node/package.json")
	if err != nil || json.Unmarshal(b, &manifest) != nil {
		return false
	}
	for name := range manifest.Dependencies {
		if _, err := os.Stat(filepath.Join("node/node_modules", name, "package.json")); err != nil {
			return false
		}
	}
	return true
}

// needGoClients builds the tests of the clients for Go, and returns the program.
func needGoClients(t *testing.T) string {
	t.Helper()
	if err := goModules(); err != nil {
		storetest.Missing(t, "the clients for Go cannot be had: %v", err)
	}
	path, err := goTests()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var goModules = sync.OnceValue(func() error { return goTool("mod", "download") })

var goTests = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "sdk.test")
	return path, goTool("test", "-c", "-o", path, ".")
})

// goTool runs the go command in the module of the clients.
func goTool(args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = "sdk"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
