package storetest

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"sluice/internal/http1/porttest"
	"sluice/internal/storage/sqlstore"
)

// Server is a private database server. It is stopped and its files are removed
// when the test ends. Not safe for concurrent use.
type Server struct {
	Endpoint sqlstore.Endpoint // the administrator, at 127.0.0.1
	engine   string
	dir      string
	binary   string
	args     []string
	owner    *syscall.SysProcAttr
	cmd      *exec.Cmd
}

// Settings returns the settings of a fresh database on the server.
func (s *Server) Settings(t testing.TB) sqlstore.Settings {
	t.Helper()
	return fresh(t, s.engine, "the private server", []sqlstore.Endpoint{s.Endpoint})
}

// Admin runs statements as the administrator.
func (s *Server) Admin(t testing.TB, statements ...string) {
	t.Helper()
	if err := admin(t.Context(), s.engine, s.Endpoint, statements...); err != nil {
		t.Fatalf("set up the %s server: %v", s.engine, err)
	}
}

// Start starts the server and waits until it answers. It keeps its port, and runs
// until Stop: the test that starts it again may be a part of the one it serves.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.cmd = exec.CommandContext(context.Background(), s.binary, s.args...)
	s.cmd.SysProcAttr, s.cmd.Dir = s.owner, s.dir
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("log of the server: %v", err)
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", s.binary, err)
	}
	deadline := time.Now().Add(setupLimit)
	for {
		err := admin(context.Background(), s.engine, s.Endpoint, "SELECT 1")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
			t.Fatalf("%s does not answer: %v\n%s", s.binary, err, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Stop ends the server without waiting for its clients.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // it may be gone already
	_ = s.cmd.Wait()                          // how it ended does not matter
	s.cmd = nil
}

// prepare makes the folder of a server, owned by the user that it must run as.
func prepare(t testing.TB, engine, binary, account string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "storetest-")
	if err != nil {
		t.Fatalf("folder of the server: %v", err)
	}
	s := &Server{engine: engine, dir: dir, binary: binary, owner: &syscall.SysProcAttr{}}
	t.Cleanup(func() {
		s.Stop()
		_ = os.RemoveAll(dir) // the system clears its temporary folder anyway
	})
	if os.Geteuid() == 0 { // these servers refuse to run as root
		s.owner.Credential = credential(t, account)
	}
	s.chown(t, dir)
	s.Endpoint = sqlstore.Endpoint{Host: "127.0.0.1", Port: porttest.Free(t)}
	return s
}

// chown gives a file to the user of the server.
func (s *Server) chown(t testing.TB, path string) {
	t.Helper()
	if c := s.owner.Credential; c != nil {
		if err := os.Chown(path, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatalf("give %s to the server: %v", path, err)
		}
	}
}

// file writes a file that only the server reads.
func (s *Server) file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("file of the server: %v", err)
	}
	s.chown(t, path)
	return path
}

// run runs a set-up tool as the user of the server.
func (s *Server) run(t testing.TB, binary string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.SysProcAttr, cmd.Dir = s.owner, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", binary, err, out)
	}
}

func credential(t testing.TB, account string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(account)
	if err != nil {
		Missing(t, "no account %s to run the server as: %v", account, err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on every system these servers run on
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// find looks for a program in the path and in the patterns.
func find(t testing.TB, name string, patterns ...string) string {
	t.Helper()
	if p, err := exec.LookPath(name); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil { // its siblings are where it really is
			return p
		}
	}
	for _, pattern := range patterns {
		if m, _ := filepath.Glob(pattern); len(m) > 0 {
			return m[len(m)-1]
		}
	}
	Missing(t, "program %s is not installed", name)
	return ""
}
