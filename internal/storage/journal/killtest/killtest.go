// Package killtest shows what survives kill -9: a test runs its own binary as a child that
// writes until it is killed, and knows from it which writes had returned.
package killtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// The environment that makes a test binary a child.
const (
	dirVariable  = "KILLTEST_DIR"
	fromVariable = "KILLTEST_FROM"
)

// Child runs write if this process is a child, with the directory that Acknowledged was
// told and the number before the first one; else it does nothing. TestMain calls it first.
// write must not return.
func Child(write func(dir string, from int64)) {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		return
	}
	from, err := strconv.ParseInt(os.Getenv(fromVariable), 10, 64)
	if err != nil {
		panic(err)
	}
	write(dir, from)
	panic("a child ends by being killed")
}

// Acknowledge says, in a child, that what has a number was written. It is safe for
// concurrent use.
func Acknowledge(number int64) {
	fmt.Fprintln(os.Stdout, number) // one write call: lines do not mix
}

// Acknowledged runs a child on dir and kills it once it has acknowledged about that many
// numbers. It returns those, as far as they came before its end.
func Acknowledged(t *testing.T, dir string, from, about int) (numbers []int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), dirVariable+"="+dir, fromVariable+"="+strconv.Itoa(from))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // the last line was cut
		}
		if numbers = append(numbers, n); len(numbers) == about {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(numbers) < about {
		t.Fatalf("the child ended by itself after %d numbers: %v", len(numbers), err)
	}
	return numbers
}
