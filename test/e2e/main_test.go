// Package e2e drives the real binary from outside: it is built once, started with
// a data directory of its own on a free port, in front of providers that the tests
// run, and talked to over HTTP, by official client libraries where they exist. What
// a test needs beside Go (PostgreSQL, MariaDB, Node) it looks for, and says what it
// skipped; with REQUIRE_SERVICES=1 a skip is a failure.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// version is what the binary of the tests calls itself.
const version = "1.2.3-e2e"

// binary is the path of the built program. TestMain sets it before any test runs.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "sluice")
	args := append([]string{"build", "-C", "../..", "-pgo=off", "-ldflags", "-X main.version=" + version, "-o", binary}, likeTests...)
	build := exec.Command("go", append(args, "./cmd/sluice")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "e2e: build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
