package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/ops/keyfile"
)

// A start that finds its key file gone fails, and leaves none that would be taken for it.
func TestLostKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	set, quiet := freshSettings(t), slog.New(slog.DiscardHandler)
	if err := offline(t.Context(), set, quiet, func(a *database) error { return a.foundDeployment(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(set.Data.Dir, keyfile.Name)
	moved := path + ".elsewhere"
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := New(t.Context(), set, Options{Log: quiet})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore the file from a backup") {
			t.Errorf("%v", err)
		}
		if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 || left[0] != moved {
			t.Errorf("it left %v %v", left, err)
		}
	}
	if err := os.Rename(moved, path); err != nil {
		t.Fatal(err)
	}
	if err := offline(t.Context(), set, quiet, func(a *database) error { return a.foundDeployment(t.Context()) }); err != nil {
		t.Errorf("with the file back: %v", err)
	}
}
