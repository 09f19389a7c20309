package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/kernel/atomicfile"
)

func TestReplace_LeavesOnlyTheNewContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "rates")
	for _, content := range []string{"first", "second"} {
		if err := atomicfile.Replace(path, []byte(content), content == "second"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != content {
			t.Errorf("content: got %q, want %q", got, content)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("files in the directory: got %d, want 1", len(files))
	}
}

func TestReplace_KeepsTheOldFileOnAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "taken")
	if err := os.MkdirAll(filepath.Join(path, "child"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path, []byte("x"), false); err == nil {
		t.Error("a directory was replaced by a file")
	}
	left, err := filepath.Glob(path + "-*")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("temporary files: got %v, want none", left)
	}
}
