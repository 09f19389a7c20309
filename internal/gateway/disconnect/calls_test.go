package disconnect_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/gateway/disconnect"
)

var usual = disconnect.Limits{Max: 1, Bytes: 100, Time: time.Minute}

// detached returns a call whose client has disconnected, and its context.
func detached(t *testing.T, c *disconnect.Calls, buffered bool) (context.Context, *disconnect.Call) {
	t.Helper()
	ctx, call := c.Detach(t.Context(), buffered)
	t.Cleanup(call.Release)
	if !buffered {
		call.BeginStream()
	}
	call.Detach()
	return ctx, call
}

func TestCalls_ContinueWithoutTheirClients(t *testing.T) {
	t.Parallel()
	for name, buffered := range map[string]bool{"stream": false, "buffered response": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := disconnect.New(usual, usual)
			ctx, call := detached(t, calls, buffered)
			if !call.IsDetached() || ctx.Err() != nil {
				t.Errorf("detached: %t, context: %v; want a call that continues", call.IsDetached(), ctx.Err())
			}
			if got := calls.Streams() + calls.Responses(); got != 1 {
				t.Errorf("%d abandoned calls, want 1", got)
			}
			call.Release()
			if got := calls.Streams() + calls.Responses(); got != 0 {
				t.Errorf("%d abandoned calls after the release, want 0", got)
			}
			if ctx.Err() == nil {
				t.Error("the context of a released call has not ended")
			}
		})
	}
}

func TestCall_EndsWithItsClientBeforeItsStreamBegins(t *testing.T) {
	t.Parallel()
	client, leave := context.WithCancel(t.Context())
	ctx, call := disconnect.New(usual, usual).Detach(client, false)
	defer call.Release()
	leave()
	<-ctx.Done()
	if call.IsDetached() {
		t.Error("a call whose stream has not begun outlives its client")
	}
}

func TestCall_WithoutLimitsNeverOutlivesItsClient(t *testing.T) {
	t.Parallel()
	ctx, call := disconnect.New(disconnect.Limits{}, usual).Detach(t.Context(), false)
	if ctx != t.Context() || call != nil {
		t.Errorf("got a call of its own, want the client's context")
	}
	call.BeginStream()
	if call.ClientLeft() || call.Detach() || call.IsDetached() || call.IsBuffered() {
		t.Error("a nil call outlives its client")
	}
	call.Release()
}

func TestCall_BeginStreamAppliesTheLimitsOfStreams(t *testing.T) {
	t.Parallel()
	calls := disconnect.New(disconnect.Limits{}, usual)
	_, call := calls.Detach(t.Context(), true)
	defer call.Release()
	call.BeginStream()
	if call.IsBuffered() || call.ClientLeft() {
		t.Error("a stream is read on although the limits of streams forbid it")
	}
}

func TestCalls_BeyondTheMaximumAreCancelled(t *testing.T) {
	t.Parallel()
	calls := disconnect.New(usual, usual)
	first, _ := detached(t, calls, false)
	second, _ := detached(t, calls, false)
	if first.Err() != nil || second.Err() == nil {
		t.Errorf("first: %v, second: %v; want only the second to be cancelled", first.Err(), second.Err())
	}
}

func TestCalls_CancelEndsCallsAndRejectsFurtherOnes(t *testing.T) {
	t.Parallel()
	calls := disconnect.New(usual, usual)
	before, _ := detached(t, calls, false)
	calls.Cancel()
	after, _ := detached(t, calls, true)
	if before.Err() == nil || after.Err() == nil {
		t.Errorf("before: %v, after: %v; want both to be cancelled", before.Err(), after.Err())
	}
}

func TestCall_CountReadEndsAtTheByteLimit(t *testing.T) {
	t.Parallel()
	_, call := detached(t, disconnect.New(usual, usual), false)
	if err := call.CountRead(99); err != nil {
		t.Errorf("below the limit: %v", err)
	}
	if err := call.CountRead(1); !errors.Is(err, disconnect.ErrLeft) {
		t.Errorf("at the limit: %v, want ErrLeft", err)
	}
}
