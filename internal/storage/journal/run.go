package journal

import (
	"context"
	"time"

	"sluice/internal/kernel/background"
)

// Run syncs records to the disk at the interval of Options.Sync and creates files
// in advance, until ctx ends. It sleeps while nothing is appended. The journal
// works without it, but then only Sync and Close make records survive a power
// failure. Run returns the error of the last sync.
func (j *Journal) Run(ctx context.Context) error {
	j.files.setRunning(true)
	defer j.files.setRunning(false)
	disk := background.NewOutageLog(j.o.Logger, "journal sync failed; retrying", "journal sync restored")
	var sync, spares, again alarm
	for {
		if j.pool.prepare(); j.pool.isStuck() {
			again.set(retryAfter)
		}
		select {
		case <-ctx.Done():
			return j.syncer.sync()
		case <-again:
			again = nil
		case <-j.wake:
			sync.set(j.o.Sync)
			if j.pool.manySpares() {
				spares.set(spareTime)
			}
		case <-sync:
			sync = nil
			if !j.syncer.syncAndReport(disk) {
				sync.set(j.o.Sync)
			}
		case <-spares:
			spares = nil
			if err := j.pool.dropSpares(); err != nil {
				j.o.Logger.Error("cannot remove consumed journal segment", "error", err)
			}
			if j.pool.manySpares() {
				spares.set(spareTime)
			}
		}
	}
}

// alarm fires once after it was set. Nil means that it is not set.
type alarm <-chan time.Time

func (a *alarm) set(d time.Duration) {
	if *a == nil {
		*a = time.After(d)
	}
}

// wakeup is a channel that wakes Run. It has capacity for one pending wake-up.
type wakeup chan struct{}

func (w wakeup) send() {
	select {
	case w <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Sync writes everything appended so far to the disk.
func (j *Journal) Sync() error { return j.syncer.sync() }
