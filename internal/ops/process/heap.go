// Package process fits the process to its machine: TuneHeap sets how much memory the garbage
// collector may use, and MaxConnections how many clients the limit of open files allows.
package process

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

// TuneHeap adjusts the GC percentage until ctx ends, to allow about heapHeadroomBytes between
// collections. The setting belongs to the whole process, so only the program itself may call it.
func TuneHeap(ctx context.Context) error {
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
