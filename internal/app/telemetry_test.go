package app

import (
	"context"
	"sync"
	"testing"
)

// What is sent to collectors is told to end at once, however many signals there are: each may
// take some seconds for that.
func TestTelemetryEndsTogether(t *testing.T) {
	t.Parallel()
	var notified sync.WaitGroup
	notified.Add(2)
	end := func(ctx context.Context) error {
		<-ctx.Done()
		notified.Done()
		notified.Wait()
		return nil
	}
	a := &requestLog{telemetry: []exporter{{"traces", end}, {"metrics", end}}}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := a.sendTelemetry(ctx); err != nil {
		t.Fatal(err)
	}
}
