package realtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// Meter sees the text events of a conversation before they are relayed. An error refuses the
// event and ends the conversation; a *fault.Error is sent to the client. Two goroutines call it,
// one for each side.
type Meter interface {
	FromClient(ctx context.Context, event []byte) error
	FromProvider(ctx context.Context, event []byte) error
}

// Relay relays conversations.
type Relay struct {
	IdleTimeout time.Duration // for a side to take a message; 0 means none
}

// Ending is how a conversation ended.
type Ending struct {
	Outcome record.Outcome
	Refusal *fault.Error // the error of the Meter that ended it; nil for any other end
}

// Run relays messages between the client (down) and the provider (up) until one side closes, the
// meter refuses an event or ctx ends. Then it notifies the other side. Both sockets are closed
// when it returns.
func (r Relay) Run(ctx context.Context, down, up Socket, m Meter) Ending {
	callCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a cancelled read leaves no time for the close handshake
	defer stop()
	defer context.AfterFunc(ctx, func() { farewell(down, up); stop() })()
	var first struct {
		sync.Once
		err        error
		fromClient bool
		refusal    *fault.Error
	}
	var both sync.WaitGroup
	pump := func(from, to Socket, fromClient bool, see func(context.Context, []byte) error) {
		defer both.Done()
		taking, err := r.relayFrames(callCtx, from, to, see)
		first.Do(func() {
			first.err, first.fromClient = err, fromClient != taking
			if ctx.Err() != nil { // the received close responds to the gateway's own
				first.err, first.fromClient = ctx.Err(), true
			}
			if f := (*fault.Error)(nil); errors.As(err, &f) {
				first.refusal = f
				_ = down.Write(callCtx, true, refusalEvent(f)) // the client may have disconnected
				_ = down.Close(1008, "rejected by a limit")
			}
		})
		code, reason := closing(err)
		_ = to.Close(code, reason) // the remaining side receives the reason; it may have disconnected
		stop()
	}
	both.Add(2)
	go pump(down, up, true, m.FromClient)
	go pump(up, down, false, m.FromProvider)
	both.Wait()
	return Ending{Outcome: outcomeOf(first.err, first.fromClient), Refusal: first.refusal}
}

// outcomeOf returns the outcome of a conversation that ended with err, on the side of the client
// or of the provider.
func outcomeOf(err error, ofClient bool) record.Outcome {
	var closed *Closed
	var refused *fault.Error
	switch {
	case errors.As(err, &closed):
		return record.OK
	case errors.As(err, &refused):
		return record.Refused
	case ofClient:
		return record.ClientGone
	}
	return record.Truncated
}

// relayFrames relays messages until one side fails. taking reports that the receiving side
// failed.
func (r Relay) relayFrames(ctx context.Context, from, to Socket, see func(context.Context, []byte) error) (taking bool, err error) {
	for {
		text, data, err := from.Read(ctx)
		if err != nil {
			return false, err
		}
		if text {
			if err := see(ctx, data); err != nil {
				return false, err
			}
		}
		if err := r.pass(ctx, to, text, data); err != nil {
			return true, err
		}
	}
}

// pass writes a message to one side, with the idle timeout as the limit. Meanwhile nothing reads
// from the other side, so a disconnect there goes unnoticed.
func (r Relay) pass(ctx context.Context, to Socket, text bool, data []byte) error {
	if r.IdleTimeout > 0 {
		limited, stop := context.WithTimeout(ctx, r.IdleTimeout)
		defer stop()
		ctx = limited
	}
	return to.Write(ctx, text, data)
}

// refusalEvent returns a refusal as an event of the conversation.
func refusalEvent(f *fault.Error) []byte {
	return append([]byte(`{"type":"error",`), f.Body(fault.Model)[1:]...)
}
