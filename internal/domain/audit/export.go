package audit

import (
	"context"
	"fmt"
	"io"
	"time"
)

// exportPage is how many rows and checkpoints are read at once.
const exportPage = 200

// Source is where an export reads from: *sqlstore.Store.
type Source interface {
	// Head returns where a trail stands. An organisation without rows has the head
	// with Seq 0, First 1 and the hash Genesis.
	Head(ctx context.Context, orgID string) (Head, error)
	// Span returns the first and last row whose time is in [from, to); 0, 0 when there
	// is none.
	Span(ctx context.Context, orgID string, from, to time.Time) (first, last int64, err error)
	// Rows returns rows of the chain from seq on, in order, at most limit.
	Rows(ctx context.Context, orgID string, seq int64, limit int) ([]Row, error)
	// Checkpoints returns checkpoints from a number on, in order, at most limit.
	Checkpoints(ctx context.Context, orgID string, number int64, limit int) ([]Checkpoint, error)
	// Around returns the newest checkpoint of a row before seq, and the first one of
	// seq or a later row. It is nil for none.
	Around(ctx context.Context, orgID string, seq int64) (before, after *Checkpoint, err error)
}

// Range is the time of which rows are wanted. The zero Range is the whole trail.
type Range struct{ From, To time.Time }

// Export writes the trail of an organisation as JSON lines: the header, the rows in
// order, and each checkpoint after the row that it signs. Of a Range it writes the
// rows of that time, and those around them up to the checkpoints on both sides, so
// that what is written verifies on its own. It needs constant memory. What is wrong
// with the trail itself does not stop it: that is for Verify to find.
func Export(ctx context.Context, w io.Writer, from Source, s *Signer, orgID string, r Range, now time.Time) error {
	e := &exporter{w: w, from: from, head: Header{OrgID: orgID, ExportedAt: stamp(now), From: stamp(r.From), To: stamp(r.To)}}
	if err := e.fillHeader(ctx, r); err != nil {
		return fmt.Errorf("find the rows of the audit trail: %w", err)
	}
	if err := e.line(headerLine, e.head.signedBy(s)); err != nil {
		return err
	}
	return e.rows(ctx)
}

type exporter struct {
	w    io.Writer
	from Source
	head Header
	next int64        // number of the checkpoint to write next; 0 for none
	page []Checkpoint // read but not written
}

// fillHeader fills the fields of the header about the rows and checkpoints that follow.
func (e *exporter) fillHeader(ctx context.Context, r Range) error {
	head, err := e.from.Head(ctx, e.head.OrgID)
	if err != nil {
		return err
	}
	e.head.First, e.head.Last = head.First, head.Seq
	if !e.head.isComplete() {
		if err := e.narrow(ctx, head, r); err != nil {
			return err
		}
	}
	if e.head.Last >= e.head.First {
		last, err := e.from.Rows(ctx, e.head.OrgID, e.head.Last, 1)
		if err != nil {
			return err
		}
		if len(last) == 1 {
			e.head.LastHash = last[0].Hash
		}
	}
	return e.signed(ctx)
}

// narrow finds the rows of a time with those around them.
func (e *exporter) narrow(ctx context.Context, head Head, r Range) error {
	first, last, err := e.from.Span(ctx, head.OrgID, r.From, r.To)
	if err != nil {
		return err
	}
	if last == 0 {
		e.head.First = head.Seq + 1
		return nil
	}
	before, _, err := e.from.Around(ctx, head.OrgID, first)
	if err != nil {
		return err
	}
	_, after, err := e.from.Around(ctx, head.OrgID, last)
	if err != nil {
		return err
	}
	if before != nil && before.Seq >= head.First {
		e.head.First = before.Seq + 1
	}
	if after != nil {
		e.head.Last = after.Seq
	}
	return nil
}

// signed finds the checkpoints that belong to the rows: from the one just before the
// first row to the last one that is not after the last row.
func (e *exporter) signed(ctx context.Context) error {
	_, checkpoint, err := e.from.Around(ctx, e.head.OrgID, max(e.head.First-1, 1))
	if err != nil || checkpoint == nil || checkpoint.Seq > e.head.Last {
		return err
	}
	e.next = checkpoint.Number
	end, _, err := e.from.Around(ctx, e.head.OrgID, e.head.Last+1)
	if err != nil || end == nil {
		return err
	}
	e.head.Checkpoint = end.Number
	return nil
}

func (e *exporter) line(kind string, v any) error {
	b, err := encodeLine(kind, v)
	if err != nil {
		return err
	}
	_, err = e.w.Write(b)
	return err
}

func (e *exporter) rows(ctx context.Context) error {
	if err := e.checkpoints(ctx, e.head.First-1); err != nil {
		return err
	}
	for seq := e.head.First; seq <= e.head.Last; {
		page, err := e.from.Rows(ctx, e.head.OrgID, seq, exportPage)
		if err != nil {
			return fmt.Errorf("read the audit trail: %w", err)
		}
		for i := range page {
			r := &page[i]
			if r.Seq > e.head.Last {
				return e.checkpoints(ctx, e.head.Last)
			}
			if err := e.checkpoints(ctx, r.Seq-1); err != nil {
				return err
			}
			if err := e.line(rowLine, r); err != nil {
				return err
			}
			seq = r.Seq + 1
		}
		if len(page) == 0 {
			break
		}
	}
	return e.checkpoints(ctx, e.head.Last)
}

// checkpoints writes those that are due after a row.
func (e *exporter) checkpoints(ctx context.Context, seq int64) error {
	for e.next > 0 && e.next <= e.head.Checkpoint {
		if len(e.page) == 0 {
			page, err := e.from.Checkpoints(ctx, e.head.OrgID, e.next, exportPage)
			if err != nil {
				return fmt.Errorf("read the checkpoints: %w", err)
			}
			if len(page) == 0 {
				return nil
			}
			e.page = page
		}
		c := e.page[0]
		if c.Seq > seq || c.Number > e.head.Checkpoint {
			return nil
		}
		if err := e.line(checkpointLine, c); err != nil {
			return err
		}
		e.page, e.next = e.page[1:], c.Number+1
	}
	return nil
}
