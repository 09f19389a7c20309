package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// link is the connections to Redis. Broken connections are restored automatically.
type link struct {
	client rueidis.Client
	since  time.Time
}

// connect creates the link if there is none.
func (b *Limiter) connect() error {
	b.connecting.Lock()
	defer b.connecting.Unlock()
	if b.link.Load() != nil {
		return nil
	}
	client, err := b.o.Server.client()
	if err != nil {
		return fmt.Errorf("connect to redis: %w", err)
	}
	b.link.Store(&link{client, time.Now()})
	return nil
}

// ask runs commands with the timeout. After an error it is not known whether they ran.
func (b *Limiter) ask(ctx context.Context, name string, commands func(context.Context, rueidis.Client) error) error {
	l := b.link.Load()
	if l == nil {
		return errUnconnected
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), b.o.Server.Timeout)
	defer stop()
	began := time.Now()
	err := commands(ctx, l.client)
	b.o.Metrics.ran(name, began, err)
	if err != nil {
		b.dropReplicaLink(l, err)
	}
	return err
}

// minLinkAge is the minimum age of a link before it is dropped. The partitions of a node
// detect a problem one after another, and each must try the new link.
const minLinkAge = beat

// dropReplicaLink drops a link whose server no longer accepts writes. The primary may have the
// same name meanwhile, and an open connection would never reach it. A cluster client detects
// that automatically.
func (b *Limiter) dropReplicaLink(l *link, err error) {
	redisErr, ok := rueidis.IsRedisErr(err)
	if !ok || b.o.Server.Cluster || !strings.HasPrefix(redisErr.Error(), "READONLY") || time.Since(l.since) < minLinkAge {
		return
	}
	if b.link.CompareAndSwap(l, nil) {
		l.client.Close() // commands in progress there fail
	}
}
