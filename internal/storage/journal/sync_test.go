package journal_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logBuffer is what a log was told. It is safe for concurrent use.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *logBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *logBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A disk that takes nothing is told of once, however often it is tried, and once more when it
// does again.
func TestFailingSyncIsToldOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	synctest.Test(t, func(t *testing.T) {
		var log logBuffer
		o := small(dir)
		o.Sync, o.Logger = time.Second, slog.New(slog.NewTextHandler(&log, nil))
		j := open(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		synctest.Wait()
		checkLog := func(bad, good int) {
			t.Helper()
			synctest.Wait()
			if b, g := strings.Count(log.String(), "journal sync failed"), strings.Count(log.String(), "journal sync restored"); b != bad || g != good {
				t.Errorf("%d and %d lines, not %d and %d: %s", b, g, bad, good, &log)
			}
		}
		put(t, j, 0, 1)
		time.Sleep(3 * time.Second)
		checkLog(0, 0)
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		put(t, j, 1, 2)
		time.Sleep(10 * time.Second)
		checkLog(1, 0)
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		checkLog(1, 1)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
