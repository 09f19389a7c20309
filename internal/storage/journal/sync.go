package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// syncer writes entries that are not consumed to the disk, and records how long they have waited.
type syncer struct {
	o     *Options
	files *segmentSet

	syncing sync.Mutex // one sync at a time; taken before segmentSet.mu

	dirty atomic.Bool               // something was appended since the last sync
	late  atomic.Pointer[time.Time] // since when Run has tried to write entries to the disk; nil while nothing waits
	syncs atomic.Uint64             // writes to the disk since Open
}

// sync writes everything appended so far to the disk.
func (sy *syncer) sync() error {
	sy.syncing.Lock()
	defer sy.syncing.Unlock()
	if !sy.dirty.Swap(false) {
		return nil
	}
	var errs []error
	for _, v := range sy.files.unsynced() {
		if err := v.seg.flush(v); err != nil {
			errs = append(errs, err)
		} else {
			sy.files.synced(v)
		}
		v.seg.release()
	}
	errs = append(errs, syncDir(sy.o.Dir))
	sy.syncs.Add(1)
	if err := errors.Join(errs...); err != nil {
		sy.dirty.Store(true)
		return err
	}
	return nil
}

// syncDir makes new file names durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}
