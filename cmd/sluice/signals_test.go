package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStoppedBySignals is the program that the signals of the tests below go to.
func TestStoppedBySignals(t *testing.T) {
	switch os.Getenv("SLUICE_TEST_SIGNALS") {
	case "":
		t.Skip("it is run by other tests")
	case "nohup":
		signal.Ignore(syscall.SIGHUP)
	}
	ctx := untilStopped()
	fmt.Println("listens")
	<-ctx.Done()
	fmt.Println("stops")
	select {} // as with a stream that does not end
}

// listening starts that program; next waits for its next line.
func listening(t *testing.T, how string) (p *os.Process, next func() string, ended func() error) {
	t.Helper()
	patient, stop := context.WithTimeout(t.Context(), time.Minute) // one that does not end is killed
	t.Cleanup(stop)
	cmd := exec.CommandContext(patient, os.Args[0], "-test.run=^TestStoppedBySignals$")
	cmd.Env = append(os.Environ(), "SLUICE_TEST_SIGNALS="+how)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	lines := bufio.NewScanner(out)
	require.NoError(t, cmd.Start())
	next = func() string { lines.Scan(); return lines.Text() }
	require.Equal(t, "listens", next())
	return cmd.Process, next, cmd.Wait
}

// Each signal stops in order, and a second one at once.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, first := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(first) { // the tests themselves were started with nohup
			continue
		}
		p, next, ended := listening(t, "plain")
		require.NoError(t, p.Signal(first))
		require.Equal(t, "stops", next(), "%s", first)
		require.NoError(t, p.Signal(syscall.SIGTERM))
		assert.Equal(t, syscall.SIGTERM, endedBy(t, ended))
	}
}

// A program that was started with nohup outlives its terminal.
func TestNohup(t *testing.T) {
	t.Parallel()
	p, next, ended := listening(t, "nohup")
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.NoError(t, p.Signal(syscall.SIGTERM))
	require.Equal(t, "stops", next())
	require.NoError(t, p.Signal(syscall.SIGINT))
	assert.Equal(t, syscall.SIGINT, endedBy(t, ended)) // had the first one counted, it was SIGTERM
}

func endedBy(t *testing.T, ended func() error) syscall.Signal {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, ended(), &exit)
	return exit.Sys().(syscall.WaitStatus).Signal()
}
