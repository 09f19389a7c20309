package app

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapHeadroomBytes is how much may be allocated between two collections. A proxy's live heap
	// is so small that a fixed percentage of it would cause hundreds of collections a second.
	// With thousands of open requests it is so large that the same percentage would be most of
	// the memory.
	heapHeadroomBytes = 24 << 20

	heapCheckInterval = time.Second
	minGCPercent      = 50 // percent of the live heap, as in GOGC
	maxGCPercent      = 400
)

// tuneHeap adjusts the GC percentage until ctx ends, to allow about heapHeadroomBytes between
// collections.
func tuneHeap(ctx context.Context) error {
	tick := time.NewTicker(heapCheckInterval)
	defer tick.Stop()
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	for percent := maxGCPercent; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		metrics.Read(sizes)
		if p := gcPercent(sizes[0].Value.Uint64() + sizes[1].Value.Uint64()); p != percent {
			debug.SetGCPercent(p)
			percent = p
		}
	}
}

// gcPercent returns the percentage of the live heap that equals heapHeadroomBytes, in steps of 50
// so that it rarely changes.
func gcPercent(live uint64) int {
	p := int(heapHeadroomBytes*100/max(live, 1)) / minGCPercent * minGCPercent
	return min(max(p, minGCPercent), maxGCPercent)
}

// startupGrace is the time after which the last work of a start is done.
const startupGrace = 2 * time.Second

// releaseStartupMemory returns memory that only the start needed to the system, once.
func (a *App) releaseStartupMemory(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(startupGrace):
	}
	if err := dropTextPages(); err != nil {
		a.log.Debug("cannot release start-up memory", "error", err.Error())
	}
	<-ctx.Done()
	return nil
}
