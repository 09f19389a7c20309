package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/ident"
	"sluice/internal/sealed"
	"sluice/internal/store/storetest"
)

func TestKeyFile(t *testing.T) {
	t.Parallel()
	unasked := func() error { return nil }
	dir := t.TempDir()
	path := filepath.Join(dir, KeyFile)
	first, err := sealingKeys(nil, dir, unasked)
	if err != nil || len(first) != 1 || len(first[0]) < 40 {
		t.Fatalf("%d keys, %v", len(first), err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	again, err := sealingKeys(nil, dir, unasked)
	if err != nil || string(again[0]) != string(first[0]) {
		t.Errorf("the second start has another key: %v", err)
	}
	if err := addKey(path); err != nil {
		t.Fatal(err)
	}
	both, err := sealingKeys(nil, dir, unasked)
	if err != nil || len(both) != 2 || string(both[1]) != string(first[0]) {
		t.Errorf("after rotation: %d keys, %v", len(both), err)
	}
	if err := dropOldKeys(path); err != nil {
		t.Fatal(err)
	}
	if last, err := sealingKeys(nil, dir, unasked); err != nil || len(last) != 1 || string(last[0]) != string(both[0]) {
		t.Errorf("after dropping the old key: %d keys, %v", len(last), err)
	}
	if sealingKeyList, err := sealingKeys([][]byte{[]byte("from the settings")}, dir, unasked); err != nil || string(sealingKeyList[0]) != "from the settings" {
		t.Errorf("ENCRYPTION_KEY: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sealingKeys(nil, dir, unasked); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key file that others can read: %v", err)
	}
}

// A start that finds its key file gone fails, and leaves none that would be taken for it.
func TestLostKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	set, quiet := freshSettings(t), slog.New(slog.DiscardHandler)
	if err := offline(t.Context(), set, quiet, func(a *App) error { return a.foundDeployment(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(set.Data.Dir, KeyFile)
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
	if err := offline(t.Context(), set, quiet, func(a *App) error { return a.foundDeployment(t.Context()) }); err != nil {
		t.Errorf("with the file back: %v", err)
	}
}

// All nodes of a deployment hash keys alike, whichever made the pepper.
func TestPepper(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	box, err := sealed.NewBox([]byte("the key of this deployment"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := pepperSecret.read(t.Context(), s, box, ident.System{})
	if err != nil || len(a) < 48 {
		t.Fatalf("%d bytes, %v", len(a), err)
	}
	b, err := pepperSecret.read(t.Context(), s, box, ident.System{})
	if err != nil || string(a) != string(b) {
		t.Errorf("another pepper the second time: %v", err)
	}
	other, err := sealed.NewBox([]byte("the key of another deployment"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pepperSecret.read(t.Context(), s, other, ident.System{}); err == nil || !strings.Contains(err.Error(), "ENCRYPTION_KEY=new,old") {
		t.Errorf("under the wrong key: %v", err)
	}
}

// Nobody waits for a pipe in the place of the key file, into which nobody writes.
func TestKeyFileIsAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, KeyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := sealingKeys(nil, dir, func() error { return nil })
		read <- err
	}()
	select {
	case err := <-read:
		if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it waits for somebody who writes")
	}
}
