package transport_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/provider/transport"
)

// A call whose answer is long in coming holds no buffer for a whole answer meanwhile, and
// its answer is read whole all the same, also where the head needs more room than was
// kept.
func TestWaitingHoldsLittle(t *testing.T) { // not beside others: it measures the heap
	const calls, maxBytes = 200, 12 << 10
	response := []byte(okHead + "x-long: " + strings.Repeat("y", 3000) + "\r\ncontent-length: 5\r\n\r\nhello")
	var arrived sync.WaitGroup
	arrived.Add(calls)
	release := make(chan struct{})
	wait := func(_ testing.TB, c *peerConn) {
		var p [1024]byte
		if _, err := c.Read(p[:]); err != nil {
			return
		}
		arrived.Done()
		<-release
		_, _ = c.Write(response)
		c.untilGone()
	}
	r := chatCall(newPeer(t, repeat(wait, calls)...))
	r.HeadTimeout, r.IdleTimeout = time.Minute, time.Minute
	c := newClient(t, transport.Options{})
	before := heap()
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			r := r
			resp, err := c.Do(context.Background(), &r)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); string(body) != "hello" || err != nil {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
	arrived.Wait()
	held := (heap() - before) / calls
	for limit := time.Now().Add(30 * time.Second); held > maxBytes && time.Now().Before(limit); held = (heap() - before) / calls {
		time.Sleep(20 * time.Millisecond) // a call gives its buffer back when haste and its slack are over
	}
	if held > maxBytes {
		t.Errorf("a waiting call holds %d bytes, more than %d", held, maxBytes)
	}
	close(release)
	wg.Wait()
}

// heap is what the program holds.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC() // pools keep what was in them through one
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
