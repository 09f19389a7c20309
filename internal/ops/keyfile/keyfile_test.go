package keyfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/ops/keyfile"
)

func TestKeyFile(t *testing.T) {
	t.Parallel()
	unasked := func() error { return nil }
	dir := t.TempDir()
	path := filepath.Join(dir, keyfile.Name)
	first, err := keyfile.Load(nil, dir, unasked)
	if err != nil || len(first) != 1 || len(first[0]) < 40 {
		t.Fatalf("%d keys, %v", len(first), err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	again, err := keyfile.Load(nil, dir, unasked)
	if err != nil || string(again[0]) != string(first[0]) {
		t.Errorf("the second start has another key: %v", err)
	}
	if err := keyfile.Add(dir); err != nil {
		t.Fatal(err)
	}
	both, err := keyfile.Load(nil, dir, unasked)
	if err != nil || len(both) != 2 || string(both[1]) != string(first[0]) {
		t.Errorf("after rotation: %d keys, %v", len(both), err)
	}
	if err := keyfile.DropOld(dir); err != nil {
		t.Fatal(err)
	}
	if last, err := keyfile.Load(nil, dir, unasked); err != nil || len(last) != 1 || string(last[0]) != string(both[0]) {
		t.Errorf("after dropping the old key: %d keys, %v", len(last), err)
	}
	if sealingKeyList, err := keyfile.Load([][]byte{[]byte("from the settings")}, dir, unasked); err != nil || string(sealingKeyList[0]) != "from the settings" {
		t.Errorf("ENCRYPTION_KEY: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := keyfile.Load(nil, dir, unasked); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key file that others can read: %v", err)
	}
}

// Nobody waits for a pipe in the place of the key file, into which nobody writes.
func TestKeyFileIsAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, keyfile.Name), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := keyfile.Load(nil, dir, func() error { return nil })
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
