package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Store stores the trails: *sqlstore.Store.
type Store interface {
	Source
	// Heads lists at most limit trails, in the order of their organisation ids. It starts
	// after the organisation id after; an empty id starts at the beginning.
	Heads(ctx context.Context, after string, limit int) ([]Head, error)
	// PutCheckpoint adds a checkpoint and sets First of the trail to First of the checkpoint,
	// in one transaction. It returns fault.Conflict when the number of the checkpoint is not
	// the next one.
	PutCheckpoint(ctx context.Context, c Checkpoint) error
	// Expired returns the newest checkpoint made at or before until, or nil if there is none.
	Expired(ctx context.Context, orgID string, until time.Time) (*Checkpoint, error)
	// PruneAudit deletes the rows of the chain before First of the trail, and the checkpoints
	// that only these rows needed. It returns nil when there is nothing to delete.
	PruneAudit(ctx context.Context, orgID string) error
	// TakeLease acquires or renews a lease for ttl and reports whether holder has it.
	TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
}

// Policy configures when checkpoints are written and how long rows are retained.
type Policy struct {
	Rows      int64         // rows after which a checkpoint is due, at least 1
	Interval  time.Duration // time after which a checkpoint is due if there is a new row
	Retention time.Duration // age at which rows are deleted; 0 retains all
}

// Checkpointer writes the checkpoints of all trails and deletes expired rows. A lease
// ensures that one node does this at a time.
type Checkpointer struct {
	store  Store
	signer *Signer
	policy Policy
	clock  ident.Clock
	log    *slog.Logger
	holder string
	broken map[string]string // last logged verification failure, by organisation id
	pruned time.Time
}

// NewCheckpointer returns a checkpointer. Run starts it.
func NewCheckpointer(s Store, signer *Signer, p Policy, clock ident.Clock, log *slog.Logger) *Checkpointer {
	return &Checkpointer{store: s, signer: signer, policy: p, clock: clock, log: log, holder: ident.NewID(), broken: make(map[string]string)}
}

const (
	leaseName    = "audit-checkpoints"
	leaseTTL     = time.Minute
	pollInterval = 5 * time.Second // time between checks for due checkpoints
	pruneGap     = time.Hour
	lastLimit    = 10 * time.Second // timeout of the checkpoints at shutdown
	headsPage    = 100
)

// Run writes checkpoints and deletes expired rows until ctx ends. Then it signs all rows that
// are not signed yet and returns nil.
func (k *Checkpointer) Run(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastLimit)
			defer stop()
			k.logFailure(k.Sign(last, true))
			return nil
		case <-tick.C:
		}
		k.logFailure(k.Sign(ctx, false))
		if now := k.clock.Now(); k.policy.Retention > 0 && now.Sub(k.pruned) >= pruneGap {
			k.pruned = now
			k.logFailure(k.Prune(ctx))
		}
	}
}

// logFailure logs the error of a round, which the next round retries. It does not log nil,
// context.Canceled and fault.ReadOnly.
func (k *Checkpointer) logFailure(err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !fault.Has(err, fault.ReadOnly) {
		k.log.Warn("audit checkpoint failed; retrying", "error", err.Error())
	}
}

// Sign writes the checkpoints that are due. With all set it writes one for every trail that
// has rows after its last checkpoint. A trail that does not verify gets no checkpoint; Sign
// logs it as an error.
func (k *Checkpointer) Sign(ctx context.Context, all bool) error {
	return k.each(ctx, func(h Head) error {
		if h.Seq == h.Signed.Seq || !all && !k.due(h) {
			return nil
		}
		err := k.sign(ctx, h)
		if f := (*Fault)(nil); errors.As(err, &f) {
			k.report(h.OrgID, f)
			return nil
		}
		if fault.Has(err, fault.Conflict) {
			return nil // another node wrote the checkpoint first
		}
		return err
	})
}

// each calls f for every trail while this node has the lease. It returns nil without the lease.
func (k *Checkpointer) each(ctx context.Context, f func(Head) error) error {
	for after := ""; ; {
		acquired, err := k.store.TakeLease(ctx, leaseName, k.holder, leaseTTL)
		if err != nil || !acquired {
			return err
		}
		heads, err := k.store.Heads(ctx, after, headsPage)
		if err != nil {
			return err
		}
		for _, h := range heads {
			if err := f(h); err != nil {
				return fmt.Errorf("organisation %s: %w", h.OrgID, err)
			}
			after = h.OrgID
		}
		if len(heads) < headsPage {
			return nil
		}
	}
}

func (k *Checkpointer) due(h Head) bool {
	if h.Seq-h.Signed.Seq >= k.policy.Rows {
		return true
	}
	signedAt, err := time.Parse(stampForm, h.Signed.Timestamp)
	return err != nil || k.clock.Now().Sub(signedAt) >= k.policy.Interval
}

// report logs a trail that does not verify, once for each different fault.
func (k *Checkpointer) report(orgID string, f *Fault) {
	if text := f.Error(); k.broken[orgID] != text {
		k.broken[orgID] = text
		k.log.Error("audit trail verification failed; it was changed in the database, no checkpoint written", "organisation_id", orgID, "row", f.Seq, "flaw", string(f.FaultKind), "error", f.Text)
	}
}

// sign verifies the rows after the last checkpoint and signs them. It returns a *Fault if they
// do not verify.
func (k *Checkpointer) sign(ctx context.Context, h Head) error {
	seq, hash := int64(0), Genesis
	if n := h.Signed.Number; n > 0 {
		last, err := k.store.Checkpoints(ctx, h.OrgID, n, 1)
		if err != nil {
			return err
		}
		if len(last) == 0 || last[0].Number != n || !last[0].Holds(k.signer.Public()) {
			return &Fault{Edited, 0, h.Signed.Seq, fmt.Sprintf("checkpoint %d does not match its signature", n)}
		}
		seq, hash = last[0].Seq, last[0].Hash
	}
	for number := h.Signed.Number + 1; seq < h.Seq; number++ {
		var err error
		if seq, hash, err = k.follow(ctx, h, seq, hash); err != nil {
			return err
		}
		if err := k.put(ctx, Checkpoint{OrgID: h.OrgID, Number: number, Seq: seq, Hash: hash, First: h.First}); err != nil {
			return err
		}
	}
	delete(k.broken, h.OrgID)
	return nil
}

// follow verifies up to Policy.Rows rows after the row seq with the given hash. It returns the
// number and the hash of the last verified row.
func (k *Checkpointer) follow(ctx context.Context, h Head, seq int64, hash string) (int64, string, error) {
	for left := k.policy.Rows; left > 0 && seq < h.Seq; {
		rows, err := k.store.Rows(ctx, h.OrgID, seq+1, int(min(left, exportPage)))
		if err != nil {
			return seq, hash, err
		}
		for i := range rows {
			r := &rows[i]
			switch {
			case r.Seq != seq+1:
				return seq, hash, &Fault{Deleted, 0, seq + 1, "the row is missing"}
			case r.Prev != hash || !r.VerifyHash():
				return seq, hash, &Fault{Edited, 0, r.Seq, "the row does not match its hash"}
			}
			seq, hash = r.Seq, r.Hash
		}
		if len(rows) == 0 {
			return seq, hash, &Fault{Deleted, 0, seq + 1, "the row is missing"}
		}
		left -= int64(len(rows))
	}
	return seq, hash, nil
}

// put signs a checkpoint, stores it and publishes it in the program's log.
func (k *Checkpointer) put(ctx context.Context, c Checkpoint) error {
	c.Timestamp = stamp(k.clock.Now())
	c = c.SignedBy(k.signer)
	if err := k.store.PutCheckpoint(ctx, c); err != nil {
		return err
	}
	line, err := encodeLine(checkpointLine, c)
	if err != nil {
		return err
	}
	k.log.Info("audit checkpoint", "checkpoint", string(line[:len(line)-1]))
	return nil
}

// Prune deletes the rows that are older than Policy.Retention. It deletes up to a checkpoint
// and retains that checkpoint, so that the remaining rows still verify. A new checkpoint
// states the first row that is retained.
func (k *Checkpointer) Prune(ctx context.Context) error {
	until := k.clock.Now().Add(-k.policy.Retention)
	return k.each(ctx, func(h Head) error {
		c, err := k.store.Expired(ctx, h.OrgID, until)
		if err != nil {
			return err
		}
		if c != nil && c.Seq >= h.First {
			if err := k.forget(ctx, h, c.Seq+1); err != nil {
				return err
			}
		}
		return k.store.PruneAudit(ctx, h.OrgID)
	})
}

// forget signs a checkpoint which states that first is the first retained row.
func (k *Checkpointer) forget(ctx context.Context, h Head, first int64) error {
	last, err := k.store.Checkpoints(ctx, h.OrgID, h.Signed.Number, 1)
	if err != nil {
		return err
	}
	if len(last) == 0 || !last[0].Holds(k.signer.Public()) {
		k.report(h.OrgID, &Fault{Edited, 0, h.Signed.Seq, fmt.Sprintf("checkpoint %d does not match its signature", h.Signed.Number)})
		return nil
	}
	err = k.put(ctx, Checkpoint{OrgID: h.OrgID, Number: last[0].Number + 1, Seq: last[0].Seq, Hash: last[0].Hash, First: first})
	if fault.Has(err, fault.Conflict) {
		return nil
	}
	return err
}

// ParseCheckpoint parses a checkpoint in the form of exports and of the program's log, a JSON
// object. It returns false if line is not a checkpoint.
func ParseCheckpoint(line []byte) (*Checkpoint, bool) {
	var c Checkpoint
	if kindOf(line) != checkpointLine || !decodeLine(append(line[:len(line):len(line)], '\n'), checkpointLine, &c) {
		return nil, false
	}
	return &c, true
}
