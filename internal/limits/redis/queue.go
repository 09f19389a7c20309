package redis

import (
	"slices"
	"sync"
	"time"

	"sluice/internal/limits/quota"
)

const (
	// maxUpdateWait is how long a store update waits for nodes that stored before.
	maxUpdateWait = 2 * time.Second
	// batch is the maximum number of changes in one script.
	batch = 500
)

// moveKey identifies the changes that are added up: a counter, and its window or period as
// returned by keyOf.
type moveKey struct {
	id    string
	endMS int64
}

// move is the change by calls that ended.
type move struct {
	held, used int64
	latest     int64 // when the last of it was used, in ms; of budgets
}

// storeUpdate is the state of a budget in the store when usage of this node was stored.
type storeUpdate struct {
	id       string
	stored   int64 // usage of this node that was stored
	used     int64 // total usage in the store
	reset    int64 // the last reset, in ms
	known    bool  // the store has a meter; otherwise used and reset have no meaning
	resets   bool  // nothing was stored, but the meter may have been reset
	amends   bool  // earlier stored values were corrected; the other values have no meaning
	isSent   bool  // sent, and waiting since
	queuedAt time.Time
}

// queue contains what this node still has to send to a partition. It is safe for concurrent
// use.
type queue struct {
	mu      sync.Mutex // guards the fields below
	moves   map[moveKey]move
	updates []storeUpdate // in the order in which the store committed them
	busy    bool          // something was sent and it is not known whether it arrived
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

// next removes and returns up to a batch of changes.
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

// again puts back updates that must wait for other nodes, before those that arrived meanwhile.
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

// restart empties the queue, whose changes are in the node's statement, and returns the store
// updates. Corrections are not in the statement and remain queued.
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

// joined records that what restart returned has arrived.
func (q *queue) joined() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
}

// empty reports whether everything was sent.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.moves) == 0 && len(q.updates) == 0 && !q.busy
}
