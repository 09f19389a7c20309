package redis

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"sluice/internal/ident"
	"sluice/internal/quota"
)

// partitions is how many there are. A deployment never changes it: counters would move.
const partitions = 16

var errUnconnected = errors.New("redis is not connected")

// Limiter holds the counters of limits for all nodes: what *quota.Bank is for one. Who makes
// one runs it, then it may be used; it is safe for concurrent use.
type Limiter struct {
	o           Options
	local       *quota.Limiter // the book of this node's part
	life        string         // of this process
	scripts     *scripts
	health      *healthLog
	partitions  [partitions]partition
	raising     singleflight.Group
	serverClock atomic.Pointer[serverClock]

	link       atomic.Pointer[link] // nil while there is none
	connecting sync.Mutex           // held while one is made
}

// New makes a Bank. Nothing is connected until Run.
func New(o Options) (*Limiter, error) {
	b := &Limiter{o: o.withDefaults(), local: o.Local, life: ident.NewID()}
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

// Run keeps this node known to Redis until ctx ends, then says what is left to be said.
func (b *Limiter) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { return b.health.run(ctx) })
	for i := range b.partitions {
		all.Go(func() error { return b.partitions[i].live(ctx) })
	}
	err := all.Wait()
	if l := b.link.Load(); l != nil {
		l.client.Close()
	}
	return err
}

// Err is why limits cannot be asked at present; nil when they can.
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

// serverClock is what time it was in Redis at a moment here.
type serverClock struct {
	there time.Time
	here  time.Time // with its monotonic reading: no clock that is set disturbs it
}

// now is the time of Redis, as far as it is known; else the time that a caller has.
func (b *Limiter) now(caller time.Time) time.Time {
	if b.o.Clock != nil {
		return b.o.Clock.Now()
	}
	if a := b.serverClock.Load(); a != nil {
		return a.there.Add(time.Since(a.here))
	}
	return caller
}
