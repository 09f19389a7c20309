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

// Guard decides what is relayed in place of each message. Two goroutines call it, one for each side. An
// error ends the conversation as that of a Meter does.
type Guard interface {
	FromClient(ctx context.Context, message []byte) (Passed, error)
	FromProvider(ctx context.Context, message []byte) (Passed, error)
}

// Passed are the text messages that are sent in place of one, to the provider (up) and to the client
// (down).
type Passed struct{ Up, Down [][]byte }

// Relay relays conversations.
type Relay struct {
	IdleTimeout time.Duration // for a side to take a message; 0 means none
	Guard       Guard         // nil relays every message
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
	pump := func(from, to Socket, fromClient bool) {
		defer both.Done()
		taking, err := r.relayFrames(callCtx, direction{from, to, fromClient, m})
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
	go pump(down, up, true)
	go pump(up, down, false)
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

// direction is one way of a conversation.
type direction struct {
	from, to   Socket
	fromClient bool
	meter      Meter
}

// relayFrames relays messages until one side fails. taking reports that the receiving side
// failed.
func (r Relay) relayFrames(ctx context.Context, d direction) (taking bool, err error) {
	for {
		text, data, err := d.from.Read(ctx)
		if err != nil {
			return false, err
		}
		if r.Guard != nil {
			taking, err = r.guarded(ctx, &d, text, data)
		} else if err = d.see(ctx, text, data); err == nil {
			err = r.pass(ctx, d.to, text, data)
			taking = err != nil
		}
		if err != nil {
			return taking, err
		}
	}
}

// see shows a text message to the meter.
func (d *direction) see(ctx context.Context, text bool, data []byte) error {
	switch {
	case !text:
		return nil
	case d.fromClient:
		return d.meter.FromClient(ctx, data)
	}
	return d.meter.FromProvider(ctx, data)
}

// guarded relays what the guard passes of a message. The meter sees what the provider sent and what it
// receives.
func (r Relay) guarded(ctx context.Context, d *direction, text bool, data []byte) (taking bool, err error) {
	var passed Passed
	if d.fromClient {
		passed, err = r.Guard.FromClient(ctx, data)
		for _, event := range passed.Up {
			if err == nil {
				err = d.meter.FromClient(ctx, event)
			}
		}
	} else if err = d.see(ctx, text, data); err == nil {
		passed, err = r.Guard.FromProvider(ctx, data)
	}
	if err != nil {
		return false, err
	}
	up, down := d.to, d.from
	if !d.fromClient {
		up, down = d.from, d.to
	}
	for _, event := range passed.Up {
		if err := r.pass(ctx, up, true, event); err != nil {
			return d.fromClient, err
		}
	}
	for _, event := range passed.Down {
		if err := r.pass(ctx, down, true, event); err != nil {
			return !d.fromClient, err
		}
	}
	return false, nil
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
