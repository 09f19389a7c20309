package diskstore_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/gateway/cache/diskstore"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start opens a store; its caller closes it.
func start(t testing.TB, o diskstore.Options) *diskstore.Store {
	t.Helper()
	if o.MaxBytes == 0 {
		o.MaxBytes = 8 << 20
	}
	s, err := diskstore.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t testing.TB, s *diskstore.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// files returns the paths and contents of all files below a directory.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheDiskIsAStore(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, func(t *testing.T, c *storetest.Clock) store.Store {
		s := start(t, diskstore.Options{Dir: t.TempDir(), Clock: c, Sealer: box, ReadTimeout: time.Minute})
		t.Cleanup(func() { stop(t, s) })
		return s
	})
}

func TestEntriesSurviveARestart(t *testing.T) {
	t.Parallel()
	c, dir := storetest.NewClock(), t.TempDir()
	o := diskstore.Options{Dir: dir, Clock: c, ReadTimeout: time.Minute}
	s := start(t, o)
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "one"))
	s.Put(t.Context(), storetest.Key(2), storetest.Entry(c, "two"))
	s.Put(t.Context(), storetest.Key(2), storetest.Entry(c, "newer"))
	s.Put(t.Context(), storetest.Key(3), storetest.Entry(c, "three"))
	old := storetest.Entry(c, "old")
	old.Expires = c.Now().Add(time.Minute)
	s.Put(t.Context(), storetest.Key(4), old)
	if _, err := s.Delete(t.Context(), storetest.Key(3), &entry.Filter{Organisation: "org-1"}); err != nil {
		t.Error(err)
	}
	stop(t, s)
	c.Move(time.Minute)
	s = start(t, o)
	defer stop(t, s)
	for i, want := range []string{"", "one", "newer", "", ""} {
		e, ok := s.Get(t.Context(), storetest.Key(byte(i)))
		if ok != (want != "") || ok && string(e.Body) != want {
			t.Errorf("key %d: %v, want %q", i, ok, want)
		}
	}
	if n, err := s.Purge(t.Context(), &entry.Filter{Organisation: "org-1", Model: "gpt-4o"}); len(n) != 2 || err != nil {
		t.Errorf("%d purged, %v", n, err)
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("%d files remain", len(left))
	}
}

func TestFilesShowNothingOfThePrompt(t *testing.T) {
	t.Parallel()
	box, err := sealed.NewBox([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	c, dir := storetest.NewClock(), t.TempDir()
	s := start(t, diskstore.Options{Dir: dir, Clock: c, Sealer: box})
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "a secret answer"))
	stop(t, s)
	found := files(t, dir)
	if len(found) != 1 {
		t.Fatalf("%d files", len(found))
	}
	for path, data := range found {
		name, err := filepath.Rel(dir, path)
		if err != nil || len(name) != 65 || bytes.Contains(data, []byte("secret")) || bytes.Contains(data, []byte("org-1")) {
			t.Errorf("%s: %q", name, data)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

func TestUnreadableFilesAreRemoved(t *testing.T) {
	t.Parallel()
	c, dir := storetest.NewClock(), t.TempDir()
	o := diskstore.Options{Dir: dir, Clock: c, ReadTimeout: time.Minute}
	s := start(t, o)
	for i := range byte(3) {
		s.Put(t.Context(), storetest.Key(i), storetest.Entry(c, "body"))
	}
	stop(t, s)
	path := func(i byte) string {
		name := storetest.Key(i).String()
		return filepath.Join(dir, name[:2], name[2:])
	}
	foreign := filepath.Join(filepath.Dir(path(1)), "README")
	for name, content := range map[string]string{
		path(0): "short", path(1): string(append(files(t, dir)[path(1)], 'x')), path(2) + "-123": "of a crash", foreign: "not of the cache",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = start(t, o)
	defer stop(t, s)
	for i, want := range []bool{false, false, true} {
		if _, ok := s.Get(t.Context(), storetest.Key(byte(i))); ok != want {
			t.Errorf("key %d: %v", i, ok)
		}
	}
	if n := s.Stats(); n.Corrupt != 2 || n.Entries != 1 {
		t.Errorf("stats %+v", n)
	}
	left := files(t, dir)
	if _, ok := left[foreign]; len(left) != 2 || !ok {
		t.Errorf("%d files remain", len(left))
	}
}

func TestAFileThatDisappearsIsAMiss(t *testing.T) {
	t.Parallel()
	c, dir := storetest.NewClock(), t.TempDir()
	o := diskstore.Options{Dir: dir, Clock: c, ReadTimeout: time.Minute}
	s := start(t, o)
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	stop(t, s)
	s = start(t, o)
	defer stop(t, s)
	for path := range files(t, dir) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.Get(t.Context(), storetest.Key(1)); ok || s.Stats().Entries != 0 {
		t.Errorf("%v, stats %+v", ok, s.Stats())
	}
}

func TestTheDirectoryNeverExceedsItsBytes(t *testing.T) {
	t.Parallel()
	c, dir := storetest.NewClock(), t.TempDir()
	o := diskstore.Options{Dir: dir, Clock: c, MaxBytes: 16 << 10, ReadTimeout: time.Minute}
	s := start(t, o)
	for i := range byte(9) {
		s.Put(t.Context(), storetest.Key(i), storetest.Entry(c, "body"))
	}
	s.Put(t.Context(), storetest.Key(10), storetest.Entry(c, strings.Repeat("x", 20<<10)))
	if n := s.Stats(); n.Entries != 4 || n.Evictions != 5 || n.Dropped != 1 {
		t.Errorf("stats %+v", n)
	}
	stop(t, s)
	if n := len(files(t, dir)); n != 4 {
		t.Errorf("%d files", n)
	}
	o.MaxEntries = 2
	s = start(t, o)
	stop(t, s)
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files with a lower limit", n)
	}
}

// TestADiskThatFailsIsAMiss puts a file where a directory of the cache must be.
func TestADiskThatFailsIsAMiss(t *testing.T) {
	t.Parallel()
	c, dir := storetest.NewClock(), t.TempDir()
	s := start(t, diskstore.Options{Dir: dir, Clock: c, ReadTimeout: time.Minute})
	sub := filepath.Join(dir, storetest.Key(1).String()[:2])
	if err := os.WriteFile(sub, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	stop(t, s)
	if _, ok := s.Get(t.Context(), storetest.Key(1)); ok || s.Stats().Failures == 0 || s.Stats().Entries != 0 {
		t.Errorf("%v, stats %+v", ok, s.Stats())
	}
}

// The figures of the disk: go test -run xxx -bench . -benchmem ./internal/gateway/cache/diskstore
func BenchmarkDiskGet(b *testing.B) {
	c, dir := storetest.NewClock(), b.TempDir()
	o := diskstore.Options{Dir: dir, Clock: ident.System{}, ReadTimeout: time.Minute}
	s := start(b, o)
	s.Put(b.Context(), storetest.Key(1), storetest.Entry(c, strings.Repeat("x", 4<<10)))
	stop(b, s)
	s = start(b, o)
	defer stop(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Get(b.Context(), storetest.Key(1)); !ok {
			b.Fatal("a miss")
		}
	}
}
