package modellist

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/kernel/ident"
)

// The limits of the cache. A list takes at most 64 KiB, so that all take at most 32 MiB.
const (
	MaxLists = 512 // providers whose lists are cached; the models of a further one are not offered
	workers  = 8   // lists that are read at once

	// idleTime is how long nobody must have asked for a list before a full cache replaces it.
	idleTime = time.Hour
)

// Source names a provider whose list is read. Sources with one ID share a list.
type Source struct {
	ID string // of what the list depends on: the integration, or the provider itself

	// Version changes with the address and the credentials; the list of another version is
	// discarded.
	Version [sha256.Size]byte

	Workspace string // id of the workspace in which the provider is looked up
	Provider  string // its slug there: "local"
}

// Reader reads the list of a provider: the model names as calls name them, "llama3.2:latest".
// It is called by several goroutines and returns when ctx ends.
type Reader func(ctx context.Context, s Source) ([]string, error)

// Options are what Lists are made of; all are needed.
type Options struct {
	Read    Reader
	Period  time.Duration // age at which a request has a list read again, and a failed read repeated
	Wait    time.Duration // how long requests wait for the first read of a list
	Timeout time.Duration // of one read
	Clock   ident.Clock   // measures Period
	Log     *slog.Logger
}

// Lists are the cached lists. Safe for concurrent use.
type Lists struct {
	set   Options
	queue chan *entry // of MaxLists; an entry is in it at most once

	mu    sync.Mutex // guards what follows, and the fields of entries
	known map[string]*entry
	full  bool // the log has the line that the cache is full
}

// entry is one list. Its fields are guarded by the mutex of Lists.
type entry struct {
	source  Source   // the one that asked last
	names   []string // never changed, only replaced; nil before the first success
	readAt  time.Time
	used    time.Time
	queued  bool // or being read
	failing bool

	first     chan struct{} // closed when the first read has ended or Wait has passed
	closeOnce func()        // closes it
	timer     *time.Timer   // of Wait
}

// New makes an empty cache. Lists are read while Run runs.
func New(o Options) *Lists {
	return &Lists{set: o, queue: make(chan *entry, MaxLists), known: map[string]*entry{}}
}

// Names returns the models of each source, in the order of the sources; nil for a source
// whose list was never read. It waits at most Options.Wait, and only for lists that nobody
// waited for before: a provider that does not respond delays one answer. The lists are
// shared and must not be changed.
func (l *Lists) Names(ctx context.Context, sources []Source) [][]string {
	entries := make([]*entry, len(sources))
	l.mu.Lock()
	for i := range sources {
		entries[i] = l.find(sources[i])
	}
	l.mu.Unlock()
	for _, e := range entries {
		if e == nil {
			continue
		}
		select {
		case <-e.first:
		case <-ctx.Done():
		}
	}
	names := make([][]string, len(sources))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range entries {
		if e != nil {
			names[i] = e.names
		}
	}
	return names
}

// find returns the entry of a source and queues its refresh when that is due; nil when the
// cache is full.
func (l *Lists) find(s Source) *entry {
	now := l.set.Clock.Now()
	e := l.known[s.ID]
	if e != nil && e.source.Version != s.Version {
		l.drop(e)
		e = nil
	}
	if e == nil {
		if e = l.add(s, now); e == nil {
			return nil
		}
	}
	e.source, e.used = s, now
	if due := e.readAt.IsZero() || now.Sub(e.readAt) >= l.set.Period; due && !e.queued {
		select {
		case l.queue <- e:
			e.queued = true
		default: // full of entries that were dropped
		}
	}
	return e
}

// add makes the entry of a source. A full cache replaces the entry that was idle for longest.
func (l *Lists) add(s Source, now time.Time) *entry {
	if len(l.known) >= MaxLists && !l.dropIdle(now) {
		if !l.full {
			l.full = true
			l.set.Log.Warn("model list cache is full; models of additional providers are not listed", "max_lists", MaxLists, "provider", "@"+s.Provider)
		}
		return nil
	}
	e := &entry{first: make(chan struct{})}
	e.closeOnce = sync.OnceFunc(func() { close(e.first) })
	e.timer = time.AfterFunc(l.set.Wait, e.closeOnce)
	l.known[s.ID] = e
	return e
}

func (l *Lists) dropIdle(now time.Time) bool {
	var oldest *entry
	for _, e := range l.known {
		if oldest == nil || e.used.Before(oldest.used) {
			oldest = e
		}
	}
	if oldest == nil || now.Sub(oldest.used) < idleTime {
		return false
	}
	l.drop(oldest)
	return true
}

// drop forgets an entry. Who waits for it waits no longer.
func (l *Lists) drop(e *entry) {
	delete(l.known, e.source.ID)
	l.full = false
	e.timer.Stop()
	e.closeOnce()
}

// Retain forgets the lists of the sources that keep rejects, such as those of providers that
// were deleted. Keep must not call l.
func (l *Lists) Retain(inUse func(Source) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.known {
		if !inUse(e.source) {
			l.drop(e)
		}
	}
}

// Len is the number of cached lists.
func (l *Lists) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}
