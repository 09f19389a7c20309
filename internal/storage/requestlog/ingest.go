package requestlog

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/background"
	"sluice/internal/storage/requestlog/bodies"
)

// state is the state that Stats and Err return.
type state struct {
	mu      sync.Mutex // guards stats and failure
	stats   Stats
	failure error
}

// Stats are counters since Run began.
type Stats struct {
	Records  uint64 // stored
	Batches  uint64
	Failures uint64 // batches that failed; their records were tried again
}

// Stats returns the counters.
func (s *Store) Stats() Stats {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.stats
}

// Err returns why the last batch failed; nil if it succeeded. Health shows it: meanwhile the
// journal grows, and nothing is lost.
func (s *Store) Err() error {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.failure
}

// Run stores records until ctx ends, and then the remaining ones for at most five seconds. It
// sleeps while there are none. After a failure it logs the error and repeats everything since the
// last transaction, after a pause that grows to 30 seconds. Its error is the one of the last
// seconds. What does not fit into those seconds remains in the journal for the next start.
func (s *Store) Run(ctx context.Context) error {
	background.RunWithBackoff(ctx, s.follow, func() uint64 { return s.Stats().Batches }, func(err error, pause time.Duration) {
		s.setFailure(err)
		s.outage.Failed(err, "retry", pause)
	})
	if err := background.RunFinal(ctx, s.takeRest); err != nil {
		return fmt.Errorf("store last logs: %w", err)
	}
	return nil
}

// follow stores records from the position of the rows until a failure or until ctx ends.
func (s *Store) follow(ctx context.Context) error {
	pos, err := s.resume(context.WithoutCancel(ctx))
	for err == nil {
		if err := s.journal.Wait(ctx, pos); err != nil {
			return err
		}
		if err := background.Sleep(ctx, s.o.Interval); err != nil {
			return err
		}
		pos, err = s.catchUp(ctx, pos)
	}
	return err
}

// takeRest stores all remaining records.
func (s *Store) takeRest(ctx context.Context) error {
	pos, err := s.resume(ctx)
	if err == nil {
		_, err = s.catchUp(ctx, pos)
	}
	return err
}

// resume returns to the position of the rows. It reads the position even after a failure of this
// run: after a failed transaction, only the row store can report whether it was committed.
func (s *Store) resume(ctx context.Context) (record.Position, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	p, err := s.rows.Progress(ctx)
	if err != nil {
		return record.Position{}, fmt.Errorf("follow journal: %w", err)
	}
	if err := s.files.Resume(ctx, p.BodyStore); err != nil {
		return record.Position{}, fmt.Errorf("follow journal: %w", err)
	}
	if p.Next.Seq > s.stored { // the failed batch was stored after all
		s.setFailure(nil)
		s.marks.reach(s.unsure)
	}
	s.stored = p.Next.Seq
	return p.Next, s.journal.Trim(p.Next)
}

// catchUp makes batches until one is not full.
func (s *Store) catchUp(ctx context.Context, pos record.Position) (record.Position, error) {
	for {
		if err := ctx.Err(); err != nil {
			return pos, err
		}
		b, err := s.batch(ctx, pos)
		if err != nil {
			return pos, err
		}
		s.note(b)
		pos = b.end
		if !b.full {
			return pos, nil
		}
	}
}

// note counts a stored batch.
func (s *Store) note(b batch) {
	s.setFailure(nil)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.stats.Batches++
	s.state.stats.Records += uint64(b.records)
}

func (s *Store) setFailure(err error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.failure = err
	if err == nil {
		s.outage.Recovered()
		return
	}
	s.state.stats.Failures++
}

// batch describes the content of one transaction.
type batch struct {
	end     record.Position
	records int
	bytes   int
	full    bool
	marks   []string // that were read
}

// batch moves records, starting at a position. After an error follow must resume.
func (s *Store) batch(ctx context.Context, from record.Position) (batch, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var b batch
	err := s.rows.Write(ctx, func(to Sink) (Progress, error) {
		var err error
		if b, err = s.fill(ctx, from, to); err != nil {
			return Progress{}, err
		}
		mark, err := s.files.Flush(ctx)
		return Progress{Next: b.end, BodyStore: mark}, err
	})
	if err != nil {
		s.unsure = b.marks
		return batch{}, fmt.Errorf("store logs: %w", err)
	}
	s.stored = b.end.Seq
	s.marks.reach(b.marks)
	return b, s.journal.Trim(b.end)
}

// fill adds records up to the limits of a batch.
func (s *Store) fill(ctx context.Context, from record.Position, to Sink) (batch, error) {
	var b batch
	var err error
	b.end = s.journal.Read(from, func(e record.Entry) bool {
		switch c := e.Correction; {
		case e.Attempt != nil:
			err = s.add(ctx, &b, e.Attempt, to)
		case e.Hooks != nil:
			err = to.AddHooks(e.Hooks)
		case c.ID == "":
			b.marks = append(b.marks, c.Operation)
		default:
			err = to.Correct(c)
		}
		b.records++
		b.full = b.records >= s.o.BatchSize || b.bytes >= s.o.BatchMax
		return err == nil && !b.full
	})
	return b, err
}

// add adds an attempt with its bodies.
func (s *Store) add(ctx context.Context, b *batch, a *record.Attempt, to Sink) error {
	ref, err := s.files.Add(ctx, a)
	if err != nil {
		return err
	}
	b.bytes += bodies.Size(a)
	return to.Add(a, ref)
}
