package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// link is the connections to Redis. Broken connections are restored automatically.
type link struct {
	client rueidis.Client
	since  time.Time
}

// connector connects this node to Redis. All partitions share it.
type connector struct {
	o          *Options
	link       atomic.Pointer[link] // nil while not connected
	connecting sync.Mutex           // held while connecting
}

// connect creates the link if there is none.
func (c *connector) connect() error {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	if c.link.Load() != nil {
		return nil
	}
	client, err := c.o.Server.client()
	if err != nil {
		return fmt.Errorf("connect to redis: %w", err)
	}
	c.link.Store(&link{client, time.Now()})
	return nil
}

// ask runs commands with the timeout. After an error it is not known whether they ran.
func (c *connector) ask(ctx context.Context, name string, commands func(context.Context, rueidis.Client) error) error {
	l := c.link.Load()
	if l == nil {
		return errUnconnected
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), c.o.Server.Timeout)
	defer stop()
	began := time.Now()
	err := commands(ctx, l.client)
	c.o.Metrics.ran(name, began, err)
	if err != nil {
		c.dropReplicaLink(l, err)
	}
	return err
}

// minLinkAge is the minimum age of a link before it is dropped. The partitions of a node
// detect a problem one after another, and each must try the new link.
const minLinkAge = beat

// dropReplicaLink drops a link whose server no longer accepts writes. The primary may have the
// same name meanwhile, and an open connection would never reach it. A cluster client detects
// that automatically.
func (c *connector) dropReplicaLink(l *link, err error) {
	redisErr, ok := rueidis.IsRedisErr(err)
	if !ok || c.o.Server.Cluster || !strings.HasPrefix(redisErr.Error(), "READONLY") || time.Since(l.since) < minLinkAge {
		return
	}
	if c.link.CompareAndSwap(l, nil) {
		l.client.Close() // commands in progress there fail
	}
}
