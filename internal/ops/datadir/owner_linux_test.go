package datadir

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/keyfile"
)

// runUnprivileged calls f as a user without rights of its own, on a thread that ends with it.
func runUnprivileged(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never let go: the thread is of no use any more
		if os.Getuid() == 0 {
			const unprivilegedID = 65534
			if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, unprivilegedID, unprivilegedID, unprivilegedID); e != 0 { // of this thread alone
				t.Error(e)
				return
			}
		}
		f()
	}()
	<-done
}

// What is in the data directory and another user's is named before anything is opened; what a
// gateway does not make there may belong to whom it likes.
func TestDataOfAnotherUser(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "sluice-owner-") // below a test's own folder nobody else comes
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o777))
	createFile := func(mode os.FileMode, parts ...string) string {
		path := filepath.Join(append([]string{root}, parts...)...)
		for i := 1; i < len(parts); i++ {
			folder := filepath.Join(append([]string{root}, parts[:i]...)...)
			require.NoError(t, os.MkdirAll(folder, 0o777))
			require.NoError(t, os.Chmod(folder, 0o777))
		}
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	usable := func() (err error) {
		runUnprivileged(t, func() { err = CheckOwner(root) })
		return err
	}
	require.NoError(t, usable(), "an empty one")
	createFile(0o666, "sluice.db")
	createFile(0o444, keyfile.Name)
	createFile(0o000, "lost+found", "x")
	createFile(0o666, "journal", "node")
	require.NoError(t, usable())
	for _, parts := range [][]string{{"rates"}, {"journal", "lock"}, {"logs", "bodies", "00000001.bodies"}} {
		path := createFile(0o400, parts...)
		err := usable()
		require.Error(t, err)
		assert.Contains(t, err.Error(), "this user cannot read and write "+path+", which belongs to another user; run chown -R ")
		assert.Contains(t, err.Error(), " "+root)
		require.NoError(t, os.Chmod(path, 0o666))
	}
	for n := range maxCheckedFiles + 1 { // a start does not look at all of very many
		path := filepath.Join(root, "exports", fmt.Sprintf("%06d", n))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.Chmod(filepath.Dir(path), 0o777))
		require.NoError(t, os.Symlink("/dev/null", path))
	}
	last := createFile(0o400, "exports", "foreign")
	require.NoError(t, usable(), "behind as many as are looked at")
	first := filepath.Join(filepath.Dir(last), "0")
	require.NoError(t, os.Rename(last, first))
	err = usable()
	require.Error(t, err)
	assert.Contains(t, err.Error(), first)
	require.NoError(t, os.RemoveAll(filepath.Dir(last)))
	folder := filepath.Join(root, "spool")
	require.NoError(t, os.Mkdir(folder, 0o000))
	err = usable()
	require.Error(t, err)
	assert.Contains(t, err.Error(), folder)
	require.NoError(t, os.Remove(folder))
	require.NoError(t, usable())
}
