// Package redisconn connects to a Redis that calls must not wait for. A server that is down or hangs
// costs three calls the time limit of their operation, a few milliseconds, and the others nothing while
// the breaker is open. The connection is made in the background, and again after an outage. Start with
// New and Run.
package redisconn

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/timebox"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/circuit"
	"sluice/internal/kernel/ident"
)

// Options are the settings of a connection. Server and Clock are required.
type Options struct {
	// Server is how to connect: InitAddress, Username, Password, SelectDB, TLSConfig and
	// ForceSingleClient. New sets timeouts and buffers.
	Server rueidis.ClientOption

	Name string // of the user of the connection: "cache"; part of the client name and of log lines
	// MaxMemory is the used memory of a server, in bytes, above which IsFull reports true. 0 means
	// 80 % of the server's maxmemory, if it has one and does not evict keys itself.
	MaxMemory int64
	Clock     ident.Clock
	Log       *slog.Logger // nil discards logs
}

const (
	maxOperations = 256         // in progress at the same time
	lastWait      = time.Second // until an operation ends whose caller no longer waits
	dialTimeout   = time.Second
	bufferBytes   = 64 << 10
)

// pausing is when operations pause because the server fails.
var pausing = circuit.Policy{Failures: 3, FirstPause: time.Second, MaxPause: 30 * time.Second}

// ErrUnconnected means that there is no connection yet, or that the breaker is open.
var ErrUnconnected = errors.New("redis cannot be reached; try again later")

// Conn is a connection to Redis. It is safe for concurrent use. Create one with New.
type Conn struct {
	server   rueidis.ClientOption
	clock    ident.Clock
	breaker  circuit.Breaker
	guard    memoryGuard
	outage   *background.OutageLog
	box      *timebox.Box
	failures atomic.Int64

	client     atomic.Pointer[rueidis.Client] // nil while not connected
	connecting sync.Mutex                     // held while connecting
	background sync.WaitGroup
}

// New returns a connection and connects in the background. The caller closes it.
func New(o Options) *Conn {
	s := o.Server
	s.Dialer.Timeout = cmp.Or(s.Dialer.Timeout, dialTimeout)
	s.ConnWriteTimeout = cmp.Or(s.ConnWriteTimeout, lastWait)
	s.DisableRetry, s.DisableCache, s.ClientName = true, true, "sluice-"+o.Name
	s.PipelineMultiplex, s.ReadBufferEachConn, s.WriteBufferEachConn = 1, bufferBytes, bufferBytes
	c := &Conn{server: s, box: timebox.New(maxOperations), clock: o.Clock, breaker: circuit.Breaker{Policy: pausing}, guard: memoryGuard{max: o.MaxMemory, clock: o.Clock},
		outage: background.NewOutageLog(cmp.Or(o.Log, slog.New(slog.DiscardHandler)), o.Name+": cannot use redis", o.Name+": redis can be used again")}
	c.connectInBackground(circuit.Allowed)
	return c
}

// connectInBackground connects, unless another goroutine does, and records the end of what the permit
// allows.
func (c *Conn) connectInBackground(permit circuit.Permit) {
	if !c.connecting.TryLock() {
		c.record(permit, circuit.Unknown)
		return
	}
	c.background.Go(func() {
		defer c.connecting.Unlock()
		if c.client.Load() != nil {
			c.record(permit, circuit.Unknown)
			return
		}
		client, err := rueidis.NewClient(c.server)
		if err != nil {
			c.failed(permit, err)
			return
		}
		c.client.Store(&client)
		c.succeeded(permit)
	})
}

// Run runs commands within a time limit, unless the breaker is open. The commands themselves may
// take longer: a broken connection is restored meanwhile.
func Run[T any](ctx context.Context, c *Conn, limit time.Duration, commands func(context.Context, rueidis.Client) (T, error)) (result T, err error) {
	permit := c.breaker.Acquire(c.clock.Now())
	if permit == circuit.Denied {
		return result, ErrUnconnected
	}
	client := c.client.Load()
	if client == nil {
		c.connectInBackground(permit)
		return result, ErrUnconnected
	}
	result, err = timebox.Run(ctx, c.box, limit, func() (T, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(limit, lastWait))
		defer cancel()
		return commands(ctx, *client)
	})
	switch {
	case err == nil:
		c.succeeded(permit)
	case ctx.Err() == nil:
		c.failed(permit, err)
		c.dropReplica(client, err)
	default:
		c.record(permit, circuit.Unknown)
	}
	return result, err
}

func (c *Conn) succeeded(permit circuit.Permit) {
	c.record(permit, circuit.Succeeded)
	c.outage.Recovered()
}

// failed counts a failure. Errors that the server reports, for example that its memory is full,
// cost no time, so they do not open the breaker.
func (c *Conn) failed(permit circuit.Permit, err error) {
	c.failures.Add(1)
	c.outage.Failed(err)
	outcome := circuit.Failed
	if _, reported := rueidis.IsRedisErr(err); reported {
		outcome = circuit.Unknown
	}
	c.record(permit, outcome)
}

func (c *Conn) record(permit circuit.Permit, outcome circuit.Outcome) {
	c.breaker.Record(c.clock.Now(), permit, outcome)
}

// dropReplica closes the connection to a server that accepts no writes any more. The address may
// lead to the new primary, which an open connection never reaches. A cluster client detects that
// itself.
func (c *Conn) dropReplica(client *rueidis.Client, err error) {
	reported, ok := rueidis.IsRedisErr(err)
	if ok && c.server.ForceSingleClient && strings.HasPrefix(reported.Error(), "READONLY") && c.client.CompareAndSwap(client, nil) {
		(*client).Close() // operations in progress there fail
	}
}

// IsFull reports whether writes must stop, so that the server has memory left for what else is in it.
// Call it inside of Run, with its client.
func (c *Conn) IsFull(ctx context.Context, client rueidis.Client) (bool, error) {
	return c.guard.isFull(ctx, client)
}

// Failures returns the number of operations that failed or took too long since the start, without
// those that the breaker stopped.
func (c *Conn) Failures() int64 { return c.failures.Load() }

// Close waits for operations in progress and closes the connection. No Run may start meanwhile.
func (c *Conn) Close() {
	c.background.Wait()
	if client := c.client.Load(); client != nil {
		(*client).Close()
	}
	c.box.Wait()
}
