// Package redistest starts Redis servers for tests: single ones, with and without TLS, and
// clusters of six. They keep nothing on disk and end with the test.
package redistest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/http1/porttest"
)

// startLimit bounds the start of a server.
const startLimit = 20 * time.Second

// Server is a Redis of its own at 127.0.0.1. Not safe for concurrent use.
type Server struct {
	Address string // "127.0.0.1:40001"
	dir     string
	args    []string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has
}

// Missing skips a test that needs a program the machine has not, or fails it when
// REQUIRE_SERVICES=1.
func Missing(t testing.TB, program string) {
	t.Helper()
	if os.Getenv("REQUIRE_SERVICES") == "1" {
		t.Fatalf("REQUIRE_SERVICES=1: there is no %s for the test", program)
	}
	t.Skipf("there is no %s for the test", program)
}

// Start starts a server; args are further settings of it, "--maxmemory", "10mb".
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	port := porttest.Free(t, busOffset)
	s := prepare(t, port)
	s.args = append(append([]string{"--port", strconv.Itoa(port)}, s.args...), args...)
	s.Run(t)
	return s
}

// StartTLS starts a server that speaks TLS alone, with a certificate and key in PEM.
func StartTLS(t testing.TB, cert, key, authority string) *Server {
	t.Helper()
	port := porttest.Free(t, busOffset)
	s := prepare(t, port)
	for name, text := range map[string]string{"cert.pem": cert, "key.pem": key, "ca.pem": authority} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.args = append(s.args, "--port", "0", "--tls-port", strconv.Itoa(port), "--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem",
		"--tls-ca-cert-file", "ca.pem", "--tls-auth-clients", "no")
	s.Run(t)
	return s
}

func prepare(t testing.TB, port int) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, "redis-server")
	}
	s := &Server{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), dir: t.TempDir()}
	s.args = []string{"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir, "--logfile", filepath.Join(s.dir, "redis.log"), "--repl-diskless-sync-delay", "0"}
	t.Cleanup(s.Kill)
	return s
}

// Run starts a server that is not running at its old address: empty, or with what a SAVE
// wrote.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	s.cmd = exec.CommandContext(context.Background(), "redis-server", s.args...)
	s.cmd.Dir, s.cmd.SysProcAttr = s.dir, diesWithUs()
	started, ended := make(chan error), make(chan struct{})
	go func(cmd *exec.Cmd) {
		runtime.LockOSThread() // diesWithUs is about the thread, which others may end
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended does not matter
		}
		close(ended)
	}(s.cmd)
	if err := <-started; err != nil {
		s.cmd = nil
		t.Fatalf("start redis-server: %v", err)
	}
	s.ended = ended
	for deadline := time.Now().Add(startLimit); ; time.Sleep(10 * time.Millisecond) {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", s.Address)
		if err == nil {
			_ = c.Close() // only whether it answers matters
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
			t.Fatalf("redis-server does not answer: %v\n%s", err, text)
		}
	}
}

// Kill ends the server at once; all it has not saved is lost.
func (s *Server) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // it may be gone already
		<-s.ended
		s.cmd = nil
	}
}

// Pause has the server do nothing, and keep its connections, until Resume.
func (s *Server) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) } // it runs

// Resume ends a Pause.
func (s *Server) Resume() { _ = s.cmd.Process.Signal(syscall.SIGCONT) } // it runs

// Client connects to the server; it is closed when the test ends.
func (s *Server) Client(t testing.TB) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Address}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Wipe removes everything that the server has.
func (s *Server) Wipe(t testing.TB) {
	t.Helper()
	c := s.Client(t)
	if err := c.Do(context.Background(), c.B().Flushall().Build()).Error(); err != nil {
		t.Fatal(err)
	}
}

// busOffset is how far above its port a server of a cluster listens for the others.
const busOffset = 10_000

// Cluster is six servers, of which three are masters and three follow them.
type Cluster struct{ Servers []*Server }

// StartCluster starts a cluster and waits until all of its slots are served.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		Missing(t, "redis-cli")
	}
	c := new(Cluster)
	args := []string{"--cluster", "create"}
	for range 6 {
		s := Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0")
		c.Servers = append(c.Servers, s)
		args = append(args, s.Address)
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*startLimit)
	defer stop()
	if out, err := exec.CommandContext(ctx, cli, append(args, "--cluster-replicas", "1", "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("make a cluster: %v\n%s", err, out)
	}
	c.Await(t)
	return c
}

// Await waits until every server knows that all slots are served, and by whom.
func (c *Cluster) Await(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 2*startLimit)
	defer stop()
	for _, s := range c.Servers {
		s.await(ctx, t)
	}
}

// await waits until a server of a cluster knows that all slots are served.
func (s *Server) await(ctx context.Context, t testing.TB) {
	t.Helper()
	c := s.Client(t)
	for {
		text, err := c.Do(ctx, c.B().Arbitrary("CLUSTER", "INFO").Build()).ToString()
		if err == nil && strings.Contains(text, "cluster_state:ok") {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the cluster does not come up: %s, %v", text, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Addresses are those of all servers.
func (c *Cluster) Addresses() (list []string) {
	for _, s := range c.Servers {
		list = append(list, s.Address)
	}
	return list
}
