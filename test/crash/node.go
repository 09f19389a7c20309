package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// startLimit is the longest that a start may take, on a busy machine.
const startLimit = 3 * time.Minute

// node is the gateway that is killed, life after life. It is not safe for concurrent use.
type node struct {
	path string
	dir  string
	env  []string
	base string // "http://127.0.0.1:41234", once it listens
	life *life  // the last one; nil before the first
}

// life is one process of the gateway. Its methods are safe for concurrent use.
type life struct {
	cmd   *exec.Cmd
	out   *headline
	ended chan struct{}
}

// start starts the gateway and returns how long it took until it listened.
func (n *node) start(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	began := time.Now()
	if err := n.launch(ctx); err != nil {
		return 0, err
	}
	if !n.await(ctx) {
		output, err := os.ReadFile(n.errors())
		return 0, errors.Join(fmt.Errorf("the gateway does not come up; it said: %s", tail(output)), ctx.Err(), err)
	}
	return time.Since(began), nil
}

// launch starts the process. What it says of errors is added to a file in its folder.
func (n *node) launch(ctx context.Context) error {
	output, err := os.OpenFile(n.errors(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	l := &life{cmd: exec.CommandContext(context.WithoutCancel(ctx), n.path, "serve"), out: &headline{found: make(chan string, 1)}, ended: make(chan struct{})}
	l.cmd.Dir, l.cmd.Env, l.cmd.Stdout, l.cmd.Stderr = n.dir, n.env, l.out, output
	if err := l.cmd.Start(); err != nil {
		return fmt.Errorf("start the gateway: %w", err)
	}
	go func() {
		_ = l.cmd.Wait() // it is killed: there is no other end
		close(l.ended)
	}()
	n.life = l
	return nil
}

// await reports whether the gateway listens; it may be killed before.
func (n *node) await(ctx context.Context) bool {
	select {
	case n.base = <-n.life.out.found:
		return true
	case <-n.life.ended:
	case <-ctx.Done():
	}
	return false
}

// kill ends the process as a power switch would, and waits for that. It may be called
// any number of times, at any time.
func (l *life) kill() {
	_ = l.cmd.Process.Kill() // it may have ended
	<-l.ended
}

func (n *node) errors() string { return filepath.Join(n.dir, "errors.log") }

// tail is the end of what was said.
func tail(b []byte) []byte {
	const maxBytes = 2000
	return b[max(len(b)-maxBytes, 0):]
}

var listens = regexp.MustCompile(` listens on (http://\S+)/v1\n`)

// headline looks into what the gateway prints for its address.
type headline struct {
	text  bytes.Buffer
	found chan string
	done  bool
}

var _ io.Writer = (*headline)(nil)

func (h *headline) Write(b []byte) (int, error) {
	if h.done {
		return len(b), nil
	}
	h.text.Write(b)
	if m := listens.FindSubmatch(h.text.Bytes()); m != nil {
		h.done = true
		h.found <- string(m[1])
	}
	return len(b), nil
}
