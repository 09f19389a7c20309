package app

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLocalLogStoreStaysInItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := filepath.Join(dir, "logs")
	d := directory(logs)
	if _, err := d.Open(t.Context(), "pricing/acme.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory yet: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(logs, "pricing"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "secret.json"), filepath.Join(logs, "pricing", "acme.json")} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(logs, "pricing", "out.json")); err != nil {
		t.Fatal(err)
	}
	f, err := d.Open(t.Context(), "pricing/acme.json")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := io.ReadAll(f); string(raw) != "{}" || err != nil || f.Close() != nil {
		t.Errorf("%q %v", raw, err)
	}
	if _, err := d.Open(t.Context(), "pricing/none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, path := range []string{"../secret.json", "pricing/out.json", "/etc/passwd", ""} {
		if _, err := d.Open(t.Context(), path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", path, err)
		}
	}
}
