// Package proc starts the programs that a benchmark compares and reads from the
// kernel what they cost: processor time, peak memory, and how much of the machine
// others took meanwhile. It needs Linux' /proc.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

const (
	startLimit   = 60 * time.Second
	stopLimit    = 30 * time.Second
	pollInterval = 10 * time.Millisecond
)

// Command is how a program is started.
type Command struct {
	Name  string // of the program in messages and of its output file: "sluice"
	Path  string
	Args  []string
	Env   []string       // the whole environment
	Dir   string         // where it runs and its output file, <Name>.log, lies
	Ready *regexp.Regexp // in its output, when it serves; nil: it is ready at once
}

// Process is a running program. Stop must be called.
type Process struct {
	ReadyMatch []string // what Ready matched, with its groups
	PID        int
	name       string
	output     string
	done       chan struct{} // closed when it ended
	cmd        *exec.Cmd
}

// Start starts the program and waits until it is ready.
func Start(ctx context.Context, c Command) (*Process, error) {
	p := &Process{name: c.Name, output: filepath.Join(c.Dir, c.Name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.output)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), c.Path, c.Args...) // Stop ends it, in order
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = c.Dir, c.Env, out, out
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p.PID = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait() // ProcessState tells the same
		close(p.done)
	}()
	if err := p.await(ctx, c.Ready); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// await looks into the output until ready matches.
func (p *Process) await(ctx context.Context, ready *regexp.Regexp) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for ready != nil {
		out, err := os.ReadFile(p.output)
		if err != nil {
			return err
		}
		if p.ReadyMatch = ready.FindStringSubmatch(string(out)); p.ReadyMatch != nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it served: %s", p.name, tail(out))
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w: %s", p.name, ctx.Err(), tail(out))
		case <-ticker.C:
		}
	}
	return nil
}

// Stop ends the program in order, or at last by force, which is an error, as is any
// ending of its own that says failure.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	if !p.cmd.ProcessState.Success() && !isStopSignal(p.cmd.ProcessState) {
		out, _ := os.ReadFile(p.output) // only to explain
		return fmt.Errorf("%s: %s: %s", p.name, p.cmd.ProcessState, tail(out))
	}
	return nil
}

// isStopSignal reports whether a process died of the signal that Stop sends.
func isStopSignal(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// tail is the end of an output.
func tail(out []byte) string {
	const maxBytes = 600
	return string(out[max(len(out)-maxBytes, 0):])
}
