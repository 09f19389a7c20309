package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// link is the connections to Redis. They are made anew by themselves where they break.
type link struct {
	client rueidis.Client
	since  time.Time
}

// connect makes the link where there is none.
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

// ask has commands run for at most the timeout. An error says nothing on whether they did.
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

// minLinkAge is how old a link is before it is given up: the parts of a node find out one
// after the other, and each is to try the new one.
const minLinkAge = beat

// dropReplicaLink gives up a link whose server takes no writes any more. The primary may be
// behind the same name meanwhile, and a connection that stays open would never lead there.
// The client of a cluster learns of it by itself.
func (b *Limiter) dropReplicaLink(l *link, err error) {
	redisErr, ok := rueidis.IsRedisErr(err)
	if !ok || b.o.Server.Cluster || !strings.HasPrefix(redisErr.Error(), "READONLY") || time.Since(l.since) < minLinkAge {
		return
	}
	if b.link.CompareAndSwap(l, nil) {
		l.client.Close() // what is under way there fails
	}
}
