// Package attack is the hostile client: it drives the real binary over raw
// connections and looks at what it leaves in its data directory, its output and at
// its upstream. What a well-meaning client does is the business of package e2e.
package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the path of the built program. TestMain sets it before any test runs.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "sluice")
	if out, err := exec.Command("go", "build", "-C", "../..", "-pgo=off", "-o", binary, "./cmd/sluice").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "attack: build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
