// Package clickhousetest starts ClickHouse servers for tests: the engine of one behind the
// part of its HTTP interface that the log store uses. The folder peer has the program, which
// Node runs; npm ci installs what it needs.
package clickhousetest

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// Who may ask a Server.
const (
	User     = "sluice"
	Password = "peer-secret"
)

// Server is a server at 127.0.0.1. Not safe for concurrent use, but for URL.
type Server struct {
	URL   string // "http://127.0.0.1:40001"
	dir   string
	port  int
	cmd   *exec.Cmd
	stdin io.Closer // the server ends with it
}

// startLimit bounds the start of a server.
const startLimit = 30 * time.Second

// Missing skips a test that needs what the machine has not, or fails it when
// REQUIRE_SERVICES=1.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatalf("REQUIRE_SERVICES=1: there is no ClickHouse for the test: %s", why)
	}
	t.Skipf("there is no ClickHouse for the test: %s", why)
}

// shared is the server that tests of a process share. It ends with the process.
var shared = sync.OnceValues(func() (*Server, error) {
	s := new(Server)
	return s, s.run()
})

// Shared is a server that all tests of the process share: each uses a Database of its own.
func Shared(t testing.TB) *Server {
	t.Helper()
	need(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Start starts a server of its own, whose data goes with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	need(t)
	s := &Server{dir: t.TempDir()}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// Kill ends the server at once. What it has acknowledged is on the disk.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.stdin.Close()      // it is killed anyway
	_ = s.cmd.Process.Kill() // it may be gone already
	_ = s.cmd.Wait()         // how it ended does not matter
	s.cmd = nil
}

// Restart starts a server that was killed, with its data and at its old address.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// run starts the program and waits until it listens.
func (s *Server) run() error {
	s.cmd = exec.CommandContext(context.Background(), "node", filepath.Join(folder(), "server.mjs"), s.dir, strconv.Itoa(s.port))
	s.cmd.Env = append(os.Environ(), "PEER_USER="+User, "PEER_PASSWORD="+Password)
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start the ClickHouse of the test: %w", err)
	}
	s.stdin = in
	late := time.AfterFunc(startLimit, func() { _ = s.cmd.Process.Kill() }) // the line below ends with it
	defer late.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_ = s.cmd.Wait()
		return fmt.Errorf("the ClickHouse of the test does not start: %q, %w", line, err)
	}
	s.port, err = strconv.Atoi(port)
	s.URL = "http://" + net.JoinHostPort("127.0.0.1", port)
	return err
}

// Database is a new database of the server, which is not made yet; it is dropped when the
// test ends.
func (s *Server) Database(t testing.TB) client.Server {
	t.Helper()
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	server := client.Server{URL: s.URL, User: User, Password: sealed.New(Password), Database: "t_" + hex.EncodeToString(b[:])}
	t.Cleanup(func() {
		c, err := client.New(server)
		if err == nil && s.cmd != nil {
			err = c.Exec(context.Background(), client.Statement{SQL: "DROP DATABASE IF EXISTS " + server.Database, Bare: true})
			c.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	return server
}

// folder is where the program is.
func folder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "peer")
}

// need skips a test when the program cannot run. With CI set its modules are installed when
// they are missing.
func need(t testing.TB) {
	t.Helper()
	if err := modules(); err != nil {
		Missing(t, err.Error())
	}
}

// oldestNode is the major version that the program needs.
const oldestNode = 20

// modules sees once that Node and its modules are there.
var modules = sync.OnceValue(func() error {
	major, err := exec.CommandContext(context.Background(), "node", "-p", "process.versions.node.split('.')[0]").Output()
	if n, _ := strconv.Atoi(strings.TrimSpace(string(major))); err != nil || n < oldestNode {
		return fmt.Errorf("it needs Node %d or later", oldestNode)
	}
	if _, err := os.Stat(filepath.Join(folder(), "node_modules", "chdb", "package.json")); err == nil {
		return nil
	}
	if os.Getenv("CI") == "" {
		return fmt.Errorf("run npm ci in %s", folder())
	}
	install := exec.CommandContext(context.Background(), "npm", "ci", "--no-fund", "--no-audit")
	install.Dir = folder()
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})
