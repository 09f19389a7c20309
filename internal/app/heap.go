package app

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapHeadroomBytes is how much may be allocated between two collections. A proxy's live
	// heap is so small that a share of it would be collected hundreds of times a
	// second; and with thousands of requests open so large that the same share would
	// be most of the memory.
	heapHeadroomBytes = 24 << 20

	heapCheckInterval = time.Second
	minGCPercent      = 50 // percent of what is live, as GOGC says it
	maxGCPercent      = 400
)

// tuneHeap keeps the room of the collector near heapHeadroomBytes until ctx ends.
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

// gcPercent is the share of what is live that makes heapHeadroomBytes, in steps of 50 so that
// it rarely changes.
func gcPercent(live uint64) int {
	p := int(heapHeadroomBytes*100/max(live, 1)) / minGCPercent * minGCPercent
	return min(max(p, minGCPercent), maxGCPercent)
}

// startupGrace is how long after the start the last of it is done.
const startupGrace = 2 * time.Second

// releaseStartupMemory gives back what only the start needed, once.
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
