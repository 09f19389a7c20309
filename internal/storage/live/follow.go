package live

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/control/resource"
)

// poll is one read of the change feed, shared by all callers that requested it before it
// began.
type poll struct {
	done chan struct{} // closed when the poll is done
	err  error
}

// Refresh applies the changes since the last poll. When it returns nil, all changes that were
// committed before the call are in the current snapshot. Callers during another poll share the
// next one. It is safe for concurrent use.
func (d *Directory) Refresh(ctx context.Context) error {
	l := d.join()
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	case d.turn <- struct{}{}:
	}
	defer func() { <-d.turn }()
	if d.begin(l) {
		l.err = d.follow(ctx)
		close(l.done)
	}
	return l.err // also if another caller ran the poll: it was done before this one got the turn
}

// join returns the next poll to begin.
func (d *Directory) join() *poll {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next == nil {
		d.next = &poll{done: make(chan struct{})}
	}
	return d.next
}

// begin closes a poll to later callers, and reports whether it still has to run.
func (d *Directory) begin(l *poll) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next != l {
		return false
	}
	d.next = nil
	return true
}

// follow reads the feed to its end. What was read before an error is published.
func (d *Directory) follow(ctx context.Context) (err error) {
	t := make(changedParts)
	for more := true; more && err == nil; {
		more, err = d.batch(ctx, t)
	}
	if len(t) > 0 {
		d.publish(ctx, d.parts.renew(d.Current(), t))
	}
	return err
}

// batch applies the next changes of the feed, or none of them if it fails, and reports whether
// there may be more.
func (d *Directory) batch(ctx context.Context, t changedParts) (more bool, err error) {
	changes, err := d.src.Changes(ctx, d.last.Seq, changesBatch)
	if err != nil {
		return false, fmt.Errorf("read change feed: %w", err)
	}
	if len(changes) == 0 {
		return false, nil
	}
	var found []resource.Record
	moved := changedIDs(changes)
	for kind, ids := range moved {
		rows, err := d.records(ctx, kind, ids)
		if err != nil {
			return false, err
		}
		found = append(found, rows...)
	}
	if err := d.renewMeters(ctx, meteredCarriers(changes)); err != nil {
		return false, err
	}
	for kind, ids := range moved { // a record that is not found again was deleted
		for _, id := range ids {
			for _, part := range [...]string{kind, limitsOf(kind)} {
				t.note(part, id, d.parts[part][id])
				d.parts.drop(part, id)
			}
		}
	}
	for _, r := range found {
		d.take(r)
	}
	d.last = changes[len(changes)-1]
	return len(changes) == changesBatch, nil
}

// changedIDs returns the ids of changed records of the followed kinds, each once.
func changedIDs(changes []resource.Change) map[string][]string {
	moved := make(map[string][]string)
	for _, c := range changes {
		if _, followed := decoders[c.Kind]; followed && !slices.Contains(moved[c.Kind], c.ID) {
			moved[c.Kind] = append(moved[c.Kind], c.ID)
		}
	}
	return moved
}

// records reads those of the records that exist.
func (d *Directory) records(ctx context.Context, kind string, ids []string) (found []resource.Record, err error) {
	for some := range slices.Chunk(ids, pageSize) {
		rows, err := d.src.List(ctx, resource.Query{Kind: kind, IDs: some, Limit: pageSize, Bare: bare[kind]})
		if err != nil {
			return nil, fmt.Errorf("read %s records: %w", kind, err)
		}
		found = append(found, rows...)
	}
	return found, nil
}
