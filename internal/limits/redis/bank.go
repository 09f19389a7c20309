package redis

import (
	"context"
	"errors"
	"hash/fnv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"sluice/internal/kernel/ident"
	"sluice/internal/limits/quota"
)

// partitions is the number of partitions. It must never change in a deployment, because
// counters would move.
const partitions = 16

var errUnconnected = errors.New("redis is not connected")

// Limiter holds the counters of limits for all nodes, as *quota.Limiter does for one. Start
// Run before using it. It is safe for concurrent use.
type Limiter struct {
	o           Options
	local       *quota.Limiter // counts the share of this node
	life        string         // id of this process
	redis       connector
	scripts     *scripts
	health      *healthLog
	partitions  [partitions]partition
	raising     singleflight.Group
	serverClock atomic.Pointer[serverClock]
}

// New returns a Limiter. It connects to nothing until Run.
func New(o Options) (*Limiter, error) {
	b := &Limiter{o: o.withDefaults(), local: o.Local, life: ident.NewID()}
	b.redis.o = &b.o
	b.health = newHealthLog(b.o)
	var err error
	if b.scripts, err = loadScripts(); err != nil {
		return nil, err
	}
	for i := range b.partitions {
		b.partitions[i].init(b, i)
	}
	return b, nil
}

// Run keeps this node registered in Redis until ctx ends, then sends what is still queued.
func (b *Limiter) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { return b.health.run(ctx) })
	for i := range b.partitions {
		all.Go(func() error { return b.partitions[i].live(ctx) })
	}
	err := all.Wait()
	if l := b.redis.link.Load(); l != nil {
		l.client.Close()
	}
	return err
}

// Err returns why limits cannot be checked at present, or nil.
func (b *Limiter) Err() error {
	for i := range b.partitions {
		if err := b.partitions[i].failure(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Limiter) partition(org string) *partition {
	h := fnv.New32a()
	_, _ = h.Write([]byte(org)) // never fails
	return &b.partitions[h.Sum32()%partitions]
}

// serverClock is the time in Redis at a local moment.
type serverClock struct {
	there time.Time
	here  time.Time // with its monotonic reading, so that setting a clock has no effect
}

// now returns the time of Redis if it is known, else the time of the caller.
func (b *Limiter) now(caller time.Time) time.Time {
	if b.o.Clock != nil {
		return b.o.Clock.Now()
	}
	if a := b.serverClock.Load(); a != nil {
		return a.there.Add(time.Since(a.here))
	}
	return caller
}
