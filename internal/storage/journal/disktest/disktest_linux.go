package disktest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Small mounts a file system of so many bytes in memory and returns where it is. It takes
// the right to mount; without it the test is skipped.
func Small(t testing.TB, bytes string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+bytes); err != nil {
		t.Skipf("a small file system cannot be mounted here; it takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill takes all the room that is left there but so many bytes; what it returns gives it back.
func Fill(t testing.TB, dir string, left int) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	size := int64(0)
	for err == nil {
		var n int
		n, err = f.Write(block)
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill %s: %v", dir, err)
	}
	if err := errors.Join(f.Truncate(max(size-int64(left), 0)), f.Close()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}
