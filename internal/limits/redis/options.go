package redis

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
)

// Server is the address of Redis and how to connect to it.
type Server struct {
	Addresses []string // "redis.internal:6379"; several for a cluster
	Cluster   bool     // a Redis Cluster; otherwise one server, the first of Addresses
	Username  string   // of an ACL; empty for the default user
	Password  sealed.String
	Database  int         // 0 in a cluster
	TLS       *tls.Config // nil for none
	Timeout   time.Duration
}

// client connects.
func (s *Server) client() (rueidis.Client, error) {
	return rueidis.NewClient(rueidis.ClientOption{
		InitAddress: s.Addresses, Username: s.Username, Password: s.Password.Reveal(), SelectDB: s.Database, TLSConfig: s.TLS,
		ForceSingleClient: !s.Cluster, ClientName: "sluice", Dialer: net.Dialer{Timeout: s.Timeout, KeepAlive: time.Second},
		ConnWriteTimeout: 2 * s.Timeout, DisableRetry: true, DisableCache: true,
		// One node has few commands in flight; buffers of half a MiB for each of several
		// connections would use most of its memory.
		PipelineMultiplex: 1, ReadBufferEachConn: bufferBytes, WriteBufferEachConn: bufferBytes,
	})
}

const bufferBytes = 64 << 10

// Meters returns the current meter of a budget, read from the writer. It returns false if
// there is no meter yet, or no longer.
type Meters func(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error)

// Options are the dependencies and settings of a Limiter. Node, Server, Local and Meters are
// required.
type Options struct {
	Node   string         // permanent name of this node, as in its journal
	Server Server         // Timeout bounds each round trip; 0 means one second
	Local  *quota.Limiter // counts the share of this node
	Meters Meters

	// Alone lets a node that cannot reach Redis continue with its local counters. Otherwise
	// calls with limits are rejected until it can.
	Alone bool
	// Grace is how long a partition that is new, or lost its data, waits for nodes to report
	// their shares before anything is taken. 0 means two seconds, which is four heartbeats; a
	// negative value means no wait.
	Grace time.Duration
	// Clock is the clock of windows and resets. Nil means that of Redis, by which keys expire
	// in any case.
	Clock ident.Clock

	Metrics *Metrics     // nil disables metrics
	Logger  *slog.Logger // nil discards logs
}

func (o Options) withDefaults() Options {
	if o.Server.Timeout <= 0 {
		o.Server.Timeout = time.Second
	}
	if o.Grace == 0 {
		o.Grace = 4 * beat
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
