package sqlstore

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// A disk that fails refuses writes as a full one does, and health and the log say which it is.
// Here it is one that takes no larger files, in a process of its own, which that limit is of.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	const alone = "SLUICE_TEST_FAILING_DISK"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskFails$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestDiskFails")) {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	s := migrated(t)
	insert := func() error {
		r := resource.Record{Kind: "k", ID: ident.NewID(), Status: "active", Version: 1, Body: bytes.Repeat([]byte(ident.NewSecret(64)), 2000)}
		return s.InTx(t.Context(), func(tx resource.Tx) error { return tx.Insert(t.Context(), r) })
	}
	setMaxBytes := func(size uint64) {
		t.Helper()
		var lim syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
			t.Fatal(err)
		}
		lim.Cur = size
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
			t.Fatal(err)
		}
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails then
	setMaxBytes(4 << 20)
	var err error
	for n := 0; err == nil && n < 200; n++ {
		err = insert()
	}
	if !fault.Has(err, fault.ReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if h := s.Health(); h.Status != Degraded || !strings.HasPrefix(h.Detail, badDisk) {
		t.Errorf("%+v", h)
	}
	if _, err := s.List(t.Context(), resource.Query{Kind: "k", Limit: 1}); err != nil {
		t.Errorf("a read: %v", err)
	}
	setMaxBytes(1 << 30)
	if err := insert(); err != nil {
		t.Errorf("a write when the disk takes it again: %v", err)
	}
	if h := s.Health(); h.Status != OK {
		t.Errorf("behind that: %+v", h)
	}
}
