package gateway

import (
	"time"

	"sluice/internal/domain/record"
)

// setTimings sets the phases of an attempt with the duration took. The transport reports Queue and
// Connect with each call.
func setTimings(a *attempt, t *record.Timings, took time.Duration) {
	if w := a.x.walked; !w.IsZero() {
		t.Parsing = w.Sub(a.x.started)
	}
	t.Queue, t.Connect = a.queue, a.connect
	t.Preparing = took
	if !a.called.IsZero() {
		t.Preparing = a.called.Sub(a.started)
	}
	t.Cache = min(a.cacheLookup, t.Preparing)
	if !a.bodyReadAt.IsZero() {
		t.Decoding = max(a.started.Add(took).Sub(a.bodyReadAt), 0)
	}
}
