package redis

import (
	"slices"
	"sync"
	"time"

	"sluice/internal/quota"
)

const (
	// maxUpdateWait is how long what was stored waits for others who stored before.
	maxUpdateWait = 2 * time.Second
	// batch is how many changes one script makes.
	batch = 500
)

// moveKey names what changes are summed by: a counter, and its window or period as keyOf
// has it.
type moveKey struct {
	id    string
	endMS int64
}

// move is what calls that ended changed.
type move struct {
	held, used int64
	latest     int64 // when the last of it was used, in ms; of budgets
}

// storeUpdate is what the store said of a budget when it took from this node what it used.
type storeUpdate struct {
	id       string
	stored   int64 // of what this node used
	used     int64 // of all, in the store
	reset    int64 // the last, in ms
	known    bool  // the store has a meter: else used and reset are nothing
	resets   bool  // nothing was stored, but the meter was reset perhaps
	amends   bool  // what the store said before was corrected; it says nothing else
	isSent   bool  // and waits since
	queuedAt time.Time
}

// queue is what a partition is still to be told by this node. Safe for concurrent use.
type queue struct {
	mu      sync.Mutex // guards what follows
	moves   map[moveKey]move
	updates []storeUpdate // in the order in which the store took them
	busy    bool          // something was taken of which it is not known whether it arrived
}

func (q *queue) move(parts []quota.NodeShare) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.moves == nil {
		q.moves = make(map[moveKey]move)
	}
	for i := range parts {
		id, endMS := keyOf(&parts[i])
		key := moveKey{id, endMS}
		m := q.moves[key]
		m.held, m.used = m.held+clamp(parts[i].Held), m.used+clamp(parts[i].Used)
		m.latest = max(m.latest, msOf(parts[i].Latest))
		q.moves[key] = m
	}
}

func (q *queue) addUpdates(list []storeUpdate) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.updates = append(q.updates, list...)
}

// next takes up to a batch of what there is.
func (q *queue) next() (moves map[moveKey]move, updates []storeUpdate) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if moves = q.moves; len(moves) <= batch {
		q.moves = nil
	} else {
		moves = make(map[moveKey]move, batch)
		for key, m := range q.moves {
			if len(moves) == batch {
				break
			}
			moves[key] = m
			delete(q.moves, key)
		}
	}
	q.busy = true
	n := min(len(q.updates), batch)
	updates = slices.Clone(q.updates[:n])
	q.updates = slices.Delete(q.updates, 0, n)
	return moves, updates
}

// again puts back what others have to tell first, before what came meanwhile.
func (q *queue) again(updates []storeUpdate, waits func(i int) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	var requeued []storeUpdate
	for i := range updates {
		if waits(i) {
			updates[i].isSent = true
			requeued = append(requeued, updates[i])
		}
	}
	q.updates = append(requeued, q.updates...)
}

// restart empties the queue, whose changes the node's statement has, and returns what the
// store said. Corrections are not of the statement: they stay.
func (q *queue) restart() (stored []storeUpdate) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.updates {
		if t.known {
			stored = append(stored, t)
		}
	}
	q.moves, q.updates, q.busy = nil, slices.DeleteFunc(q.updates, func(t storeUpdate) bool { return !t.amends }), true
	return stored
}

// joined says that what restart gave away arrived.
func (q *queue) joined() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
}

// empty reports whether Redis knows everything.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.moves) == 0 && len(q.updates) == 0 && !q.busy
}
