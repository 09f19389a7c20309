package realtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/realtime"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// socket is one side whose messages come from incoming. Closing that channel is how the other
// end closes the socket with code.
type socket struct {
	incoming chan string
	code     int
	err      error // of Read after incoming; nil means closed with code

	once   sync.Once
	closed chan struct{}

	mu        sync.Mutex // guards the fields below
	written   []string
	closeCode int
}

func newSocket(code int, messages ...string) *socket {
	s := &socket{incoming: make(chan string, 8), code: code, closed: make(chan struct{})}
	for _, m := range messages {
		s.incoming <- m
	}
	return s
}

func (s *socket) Read(ctx context.Context) (text bool, data []byte, err error) {
	select {
	case m, ok := <-s.incoming:
		switch {
		case ok:
			return true, []byte(m), nil
		case s.err != nil:
			return false, nil, s.err
		}
		return false, nil, &realtime.Closed{Code: s.code, Reason: "bye"}
	case <-s.closed:
		return false, nil, &realtime.Closed{Code: 1005}
	case <-ctx.Done():
		return false, nil, ctx.Err()
	}
}

func (s *socket) Write(_ context.Context, _ bool, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, string(data))
	return nil
}

func (s *socket) Close(code int, _ string) error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closeCode = code
		s.mu.Unlock()
		close(s.closed)
	})
	return nil
}

func (s *socket) state() (written string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.written, " "), s.closeCode
}

// meter refuses the events that contain "refuse".
type meter struct{}

func (meter) FromClient(_ context.Context, event []byte) error {
	if strings.Contains(string(event), "refuse") {
		return fault.New(fault.RateLimited, "too many responses")
	}
	return nil
}

func (meter) FromProvider(context.Context, []byte) error { return nil }

func TestRelay_RelaysUntilOneSideCloses(t *testing.T) {
	t.Parallel()
	down, up := newSocket(1000), newSocket(4001, "from the provider")
	close(up.incoming)
	end := realtime.Relay{IdleTimeout: time.Minute}.Run(t.Context(), down, up, meter{})
	if end.Outcome != record.OK || end.Refusal != nil {
		t.Errorf("got %+v, want OK", end)
	}
	if written, code := down.state(); written != "from the provider" || code != 4001 {
		t.Errorf("the client got %q and close code %d", written, code)
	}
}

func TestRelay_EndsWithTheRefusalOfTheMeter(t *testing.T) {
	t.Parallel()
	down, up := newSocket(1000, "refuse this"), newSocket(1000)
	end := realtime.Relay{}.Run(t.Context(), down, up, meter{})
	if end.Outcome != record.Refused || !fault.Has(end.Refusal, fault.RateLimited) {
		t.Errorf("got %+v, want the refusal", end)
	}
	if written, code := down.state(); !strings.HasPrefix(written, `{"type":"error","error":`) || code != 1008 {
		t.Errorf("the client got %q and close code %d", written, code)
	}
	if written, code := up.state(); written != "" || code != 1000 {
		t.Errorf("the provider got %q and close code %d", written, code)
	}
}

func TestRelay_RecordsWhichSideWasLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client bool
		want   record.Outcome
	}{"the client": {true, record.ClientGone}, "the provider": {false, record.Truncated}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			down, up := newSocket(1000), newSocket(1000)
			lost := up
			if c.client {
				lost = down
			}
			lost.err = errors.New("connection reset")
			close(lost.incoming)
			if end := (realtime.Relay{}).Run(t.Context(), down, up, meter{}); end.Outcome != c.want {
				t.Errorf("got %v, want %v", end.Outcome, c.want)
			}
		})
	}
}

func TestRelay_ClosesBothSidesAtShutdown(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	down, up := newSocket(1000), newSocket(1000)
	stop()
	if end := (realtime.Relay{}).Run(ctx, down, up, meter{}); end.Outcome != record.ClientGone {
		t.Errorf("got %v, want %v", end.Outcome, record.ClientGone)
	}
	for _, s := range []*socket{down, up} {
		if _, code := s.state(); code != 1001 && code != 1000 {
			t.Errorf("got close code %d, want 1001", code)
		}
	}
}

// silent never completes a handshake.
type silent struct{}

func (silent) Dial(ctx context.Context, _ string, _ wire.Header) (realtime.Socket, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDial_EndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	if _, err := realtime.Dial(t.Context(), silent{}, "wss://a.example", nil, time.Millisecond); !fault.Has(err, fault.UpstreamTimeout) {
		t.Errorf("got %v, want a timeout", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := realtime.Dial(ctx, silent{}, "wss://a.example", nil, 0); !fault.Has(err, fault.ClientGone) {
		t.Errorf("got %v, want that the client is gone", err)
	}
}
