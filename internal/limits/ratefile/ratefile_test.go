package ratefile

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
)

var aRate = quota.Hold{Counter: quota.CounterID{Subject: "key", Entry: "requests/rpd"}, Unit: quota.PerDay, Amount: 1, Limit: 100, Spent: true}

// ask takes a request from a rate, and returns what is left of it.
func ask(b *quota.Limiter, now time.Time) int64 {
	holds := []quota.Hold{aRate}
	b.Take(now, holds)
	b.Settle(now, holds, nil)
	return b.State(now, &holds[0]).Left
}

// What was counted until a second before a kill, and everything before a stop, is not
// forgotten, and nothing is written while nothing is counted.
func TestRatesOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	begin := func() (*File, func()) {
		k := New(quota.NewLimiter(), dir, ident.System{}, slog.New(slog.DiscardHandler))
		k.Restore()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- k.Run(ctx) }()
		return k, func() { stop(); <-ended }
	}
	synctest.Test(t, func(t *testing.T) {
		k, stop := begin()
		for range 10 {
			ask(k.limits, time.Now())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		killed, err := os.ReadFile(k.path)
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.Stat(k.path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if now, err := os.Stat(k.path); err != nil || !os.SameFile(now, written) {
			t.Errorf("written again while nothing was counted: %v", err)
		}
		ask(k.limits, time.Now())
		stop() // the eleventh is kept at once
		k, stop = begin()
		if left := ask(k.limits, time.Now()); left != 88 {
			t.Errorf("%d left behind a stop, want 88", left)
		}
		stop()
		if err := os.WriteFile(k.path, killed, 0o600); err != nil {
			t.Fatal(err)
		}
		k, stop = begin()
		if left := ask(k.limits, time.Now()); left != 89 {
			t.Errorf("%d left behind a kill, want 89", left)
		}
		stop()
		time.Sleep(48 * time.Hour)
		k, stop = begin()
		if left := ask(k.limits, time.Now()); left != 99 {
			t.Errorf("%d left two days later, want 99", left)
		}
		stop()
	})
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A file that nobody can read begins windows anew, and is told of.
func TestSpoiledRates(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	k := New(quota.NewLimiter(), t.TempDir(), ident.System{}, slog.New(slog.NewTextHandler(&log, nil)))
	k.Restore()
	if log.Len() > 0 {
		t.Errorf("the first start says %s", &log)
	}
	if err := os.WriteFile(k.path, []byte("spoiled by a disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.Restore()
	if !strings.Contains(log.String(), "windows restart") || k.limits.Len() != 0 {
		t.Errorf("log %s, %d counters", &log, k.limits.Len())
	}
}

// Few rates are kept within a second, and many less often, but within ten.
func TestManyRatesAreKeptLessOften(t *testing.T) {
	k := New(quota.NewLimiter(), t.TempDir(), ident.System{}, slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		rates int
		want  time.Duration
	}{{1, interval}, {20_000, 2 * interval}, {200_000, maxIntervals * interval}} {
		for i := range c.rates {
			h := aRate
			h.Counter.Subject = "0191f3a0-0000-7000-8000-00000000000a" + strconv.Itoa(i)
			holds := []quota.Hold{h}
			k.limits.Take(time.Now(), holds)
		}
		if err := k.save(); err != nil {
			t.Fatal(err)
		}
		if got := k.pause(); got < c.want || got > maxIntervals*interval || c.rates == 1 && got != c.want {
			t.Errorf("%d rates are kept every %v, want %v", c.rates, got, c.want)
		}
	}
}
