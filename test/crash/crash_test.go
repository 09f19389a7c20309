package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A short campaign on SQLite; make crash has the long ones.
func TestCrash(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "sluice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-pgo=off", "-o", program, "./cmd/sluice").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	c, err := prepare(t.Context(), options{program: program, engine: sqlite, runs: 6, seed: uint64(time.Now().UnixNano()), progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.run(t.Context()); err != nil {
		t.Error(err)
	}
	t.Log(c.tally.String())
	if c.tally.counts.answered == 0 || c.tally.counts.incomplete == 0 {
		t.Error("nothing was answered, or nothing was cut off")
	}
	if c.tally.changed == 0 {
		t.Error("nothing was billed again")
	}
}

// A campaign that fails keeps its data; one that ends well leaves nothing.
func TestData(t *testing.T) {
	t.Parallel()
	for _, retain := range []bool{true, false} {
		c := &campaign{dir: filepath.Join(t.TempDir(), "data"), retainData: retain}
		if err := os.Mkdir(c.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := c.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.dir); retain != (err == nil) {
			t.Errorf("kept %t: %v", retain, err)
		}
	}
}
