package redis

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/ident"
	"sluice/internal/quota"
	"sluice/internal/sealed"
)

// Server says where Redis is and how it is spoken to.
type Server struct {
	Addresses []string // "redis.internal:6379"; several of a cluster
	Cluster   bool     // it is a Redis Cluster; else one server, the first of Addresses
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
		// One node has few commands under way at once; buffers of half a MiB for each of
		// several connections would be most of its memory.
		PipelineMultiplex: 1, ReadBufferEachConn: bufferBytes, WriteBufferEachConn: bufferBytes,
	})
}

const bufferBytes = 64 << 10

// Meters tells what the store says of a budget now, asking the writer: false when it has
// no meter of it yet, or none any more.
type Meters func(ctx context.Context, id quota.CounterID) (quota.Meter, bool, error)

// Options are what a Bank needs. Node, Server, Local and Meters must be given.
type Options struct {
	Node   string         // names this node for good, as its journal does
	Server Server         // Timeout bounds each round trip; 0 means one second
	Local  *quota.Limiter // the book of this node's part
	Meters Meters

	// Alone lets a node that does not reach Redis go on by what it knows; else calls with
	// limits are refused until it does.
	Alone bool
	// Grace is how long a partition that is new, or lost everything, waits for nodes to
	// state their parts before anybody takes from it; 0 means two seconds, which is four
	// signs of life, and less than 0 not at all.
	Grace time.Duration
	// Clock is the time of windows and resets; nil means that of Redis, by which keys
	// expire in any case.
	Clock ident.Clock

	Metrics *Metrics     // nil means none
	Logger  *slog.Logger // nil means none
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
