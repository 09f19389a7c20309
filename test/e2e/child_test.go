package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The limits of waiting for a process.
const (
	startLimit = 2 * time.Minute // the machine may be busy with other packages, and the race detector slow
	stopLimit  = 30 * time.Second
	suiteLimit = 3 * time.Minute // of a client's tests
)

// child is a started program. It is killed when the test ends, whatever becomes of
// the test.
type child struct {
	cmd      *exec.Cmd
	out, err *output
	done     chan struct{} // closed when it has ended
}

// spawn starts a program with only the environment that is given, PATH and HOME.
func spawn(t testing.TB, dir, name string, env []string, args ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(name, args...), out: newOutput(), err: newOutput(), done: make(chan struct{})}
	c.cmd.Dir = dir
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.err
	c.cmd.SysProcAttr = diesWithUs()
	c.cmd.WaitDelay = time.Second
	// Some programs end when their input does; this one ends when we do.
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // diesWithUs is about the thread, which others may end
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // how it ended is in ProcessState
		}
		close(c.done)
	}()
	if err := <-started; err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // its end may be gone
		c.kill()
		text := c.err.String()
		if _, race, found := strings.Cut(text, "WARNING: DATA RACE"); found {
			t.Errorf("%s has a data race:%s", name, race[:min(len(race), 4<<10)])
		}
		if t.Failed() && text != "" {
			t.Logf("%s said:\n%s", name, tail(text))
		}
	})
	return c
}

// tail is the end of a text that may be long.
func tail(text string) string {
	const maxBytes = 4 << 10
	if len(text) > maxBytes {
		return "…" + text[len(text)-maxBytes:]
	}
	return text
}

// kill ends the program without a warning and waits for that.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.done
}

// ended waits for the end and returns the exit code.
func (c *child) ended(t testing.TB) int {
	t.Helper()
	return c.endedWithin(t, stopLimit)
}

func (c *child) endedWithin(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(limit):
		t.Fatalf("%s has not ended after %s", c.cmd.Path, limit)
	}
	return c.cmd.ProcessState.ExitCode()
}

// terminate asks the program to stop.
func (c *child) terminate(t testing.TB) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stop %s: %v", c.cmd.Path, err)
	}
}

// await waits until find finds something in the standard output, and returns it.
func (c *child) await(t testing.TB, what string, find func(text string) string) string {
	t.Helper()
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	for {
		text, changed := c.out.snapshot()
		if found := find(text); found != "" {
			return found
		}
		select {
		case <-changed:
		case <-c.done:
			t.Fatalf("it ended with %d before it printed %s:\n%s%s", c.cmd.ProcessState.ExitCode(), what, c.out, c.err)
		case <-limit.C:
			t.Fatalf("it has not printed %s after %s:\n%s%s", what, startLimit, c.out, c.err)
		}
	}
}

// output collects what a program prints. It is safe for concurrent use.
type output struct {
	mu      sync.Mutex // guards what follows
	text    bytes.Buffer
	changed chan struct{} // closed and replaced at each write
}

var _ io.Writer = (*output)(nil)

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.text.Write(b)
}

func (o *output) snapshot() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.changed
}

func (o *output) String() string {
	text, _ := o.snapshot()
	return text
}
