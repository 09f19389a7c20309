// Package purge keeps responses that were purged from being served, on every node. A purge is recorded
// once; each node reads the list of purges. Store hides what a purge of the list selects at once, also
// if the node was down when it was recorded, and Follow removes it. Start with Store.
package purge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/store"
)

// Purge selects responses to remove.
type Purge struct {
	ID     string        // of a recorded purge
	Filter entry.Filter  // Before is at most the time of a recorded purge
	Key    *cachekey.Key // of one response; nil for all that the filter selects
}

// selects reports whether a purge selects an entry.
func (p *Purge) selects(key cachekey.Key, e *entry.Entry) bool {
	return (p.Key == nil || *p.Key == key) && p.Filter.Selects(e)
}

// List contains the recorded purges. It is immutable.
type List struct{ ByOrganisation map[string][]Purge }

// Options are the parts of a Store. Responses and Current are required.
type Options struct {
	Responses store.Store
	Vectors   vectorstore.Store // of the semantic cache; nil for none
	// Current returns the recorded purges; nil before they are known. It returns the same pointer
	// until the list changes, and is called for each hit.
	Current func() *List
	Log     *slog.Logger
}

// Store is a store of responses without those that were purged. It is safe for concurrent use. Create
// one with New.
type Store struct {
	store.Store
	o Options
}

// New returns a store. It closes that of the options.
func New(o Options) *Store { return &Store{Store: o.Responses, o: o} }

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key cachekey.Key) (*entry.Entry, bool) {
	e, ok := s.Store.Get(ctx, key)
	if !ok || s.isPurged(key, e) {
		return nil, false
	}
	return e, true
}

func (s *Store) isPurged(key cachekey.Key, e *entry.Entry) bool {
	list := s.o.Current()
	if list == nil {
		return false
	}
	purges := list.ByOrganisation[e.Tags.Organisation]
	for i := range purges {
		if purges[i].selects(key, e) {
			return true
		}
	}
	return false
}

// maxVectors is the number of vectors that one call of the vector store removes.
const maxVectors = 500

// Remove removes the responses that a purge selects from the store of this node, and their questions
// from the vector store. It returns the number of responses. Questions that cannot be removed are
// logged: without their responses they are never served.
func (s *Store) Remove(ctx context.Context, p *Purge) (int, error) {
	keys, err := s.removeResponses(ctx, p)
	if s.o.Vectors == nil {
		return len(keys), err
	}
	for some := range slices.Chunk(keys, maxVectors) {
		names := make([]vectorstore.Key, len(some))
		for i, key := range some {
			names[i] = vectorstore.Key(key)
		}
		if err := s.o.Vectors.Delete(ctx, names...); err != nil {
			s.o.Log.Warn("cannot remove the questions of purged responses from the vector store; they expire with the responses", "error", err.Error())
			break
		}
	}
	return len(keys), err
}

func (s *Store) removeResponses(ctx context.Context, p *Purge) ([]cachekey.Key, error) {
	if p.Key == nil {
		return s.Purge(ctx, &p.Filter)
	}
	removed, err := s.Delete(ctx, *p.Key, &p.Filter)
	if !removed {
		return nil, err
	}
	return []cachekey.Key{*p.Key}, err
}

// interval is the time between two looks at the list.
const interval = time.Second

// Follow removes what the purges of the list select, until ctx ends. A store that all nodes share does
// not need it.
func (s *Store) Follow(ctx context.Context) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var f follower
	for {
		if err := f.follow(ctx, s); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("cannot remove purged responses from the cache; retrying", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// follower remembers which purges were applied.
type follower struct {
	list    *List // whose purges all were applied
	applied map[string]bool
}

// follow applies the purges that were not applied yet.
func (f *follower) follow(ctx context.Context, s *Store) error {
	list := s.o.Current()
	if list == nil || list == f.list {
		return nil
	}
	now := make(map[string]bool)
	var errs []error
	for _, purges := range list.ByOrganisation {
		for i := range purges {
			p := &purges[i]
			if !f.applied[p.ID] {
				if _, err := s.Remove(ctx, p); err != nil {
					errs = append(errs, fmt.Errorf("purge %s: %w", p.ID, err))
					continue
				}
			}
			now[p.ID] = true
		}
	}
	f.applied = now
	if len(errs) == 0 {
		f.list = list
	}
	return errors.Join(errs...)
}
