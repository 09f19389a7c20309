package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// yielder is the program that has others get the processor when nobody else wants it. Where
// there is none they compete for it.
const yielder = "chrt"

// yieldAll has all threads of a process get the processor when nobody else wants it.
func yieldAll(ctx context.Context, pid int) error {
	if chrt, err := exec.LookPath(yielder); err == nil {
		return exec.CommandContext(ctx, chrt, "--all-tasks", "--idle", "--pid", "0", strconv.Itoa(pid)).Run()
	}
	return nil
}

// companion is another run of this program that does something beside the calls. It gets the
// processor when nobody else wants it.
type companion struct {
	*exec.Cmd
	output bytes.Buffer
}

// accompany starts one with the variables and the flags that say what it does.
func accompany(ctx context.Context, variables []string, flags ...string) (*companion, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := append([]string{self}, flags...)
	if chrt, err := exec.LookPath(yielder); err == nil {
		line = append([]string{chrt, "--idle", "0"}, line...)
	}
	c := &companion{Cmd: exec.CommandContext(ctx, line[0], line[1:]...)}
	c.Env = append(os.Environ(), variables...)
	c.Stdout, c.Stderr = &c.output, &c.output
	return c, c.Start()
}

// stop ends it, and returns how much it asked and what it took of the processor.
func (c *companion) stop() (queries int, took time.Duration, err error) {
	if err := c.Process.Signal(os.Interrupt); err != nil {
		return 0, 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, 0, fmt.Errorf("beside the calls: %w: %s", err, c.output.String())
	}
	queries, err = strconv.Atoi(strings.TrimSpace(c.output.String()))
	return queries, c.ProcessState.UserTime() + c.ProcessState.SystemTime(), err
}
