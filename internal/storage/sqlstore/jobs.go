package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/domain/providerjob"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// jobRow is a row of the table open_jobs: unfinished work of a provider, whose maximum cost is
// charged to budgets.
type jobRow struct {
	bun.BaseModel `bun:"table:open_jobs,alias:j"`

	ID        string `bun:",pk"`
	JobKey    string
	Node      string // the only node that may check it; empty for any
	CreatedMS int64  `bun:"created_ms"`
	DueMS     int64  `bun:"due_ms"`
	Settled   int64  // 0 or 1
	Body      []byte // providerjob.Job, compressed
}

// jobTable is the table of unfinished work at providers.
type jobTable struct {
	*database
	meters meterTable
}

// AddJob stores a job that is due at a time, adds deltas to the meters, both in one transaction,
// and returns the meters as of then. A job that is stored already changes nothing. node is the
// only node that may check it; empty for any. The feed reports the subjects. It returns ReadOnly
// if the writer is unreachable.
func (s *jobTable) AddJob(ctx context.Context, j *providerjob.Job, node string, due, now time.Time, deltas []quota.Delta) (after []quota.Meter, err error) {
	if err := storable("id", j.ID, 36); err != nil {
		return nil, err
	}
	body, err := j.Encode()
	if err != nil {
		return nil, err
	}
	row := jobRow{ID: j.ID, JobKey: j.Key(), Node: node, CreatedMS: j.Created.UnixMilli(), DueMS: due.UnixMilli(), Body: s.zip.EncodeAll(body, nil)}
	err = s.InTx(ctx, func(rtx resource.Tx) (err error) {
		err = runInTx(ctx, rtx, "store an open job", func(ctx context.Context, db bun.IDB) error {
			_, err := db.NewInsert().Model(&row).Exec(ctx)
			return err
		})
		if err == nil {
			after, err = s.chargeJob(ctx, rtx, now, deltas)
		}
		return err
	})
	if fault.Has(err, fault.Conflict) {
		return nil, nil // an earlier try was stored
	}
	return after, err
}

// chargeJob adds deltas, returns the updated meters, and reports them in the feed.
func (s *jobTable) chargeJob(ctx context.Context, rtx resource.Tx, now time.Time, deltas []quota.Delta) ([]quota.Meter, error) {
	if len(deltas) == 0 {
		return nil, nil
	}
	t, err := unwrapTx(rtx)
	if err != nil {
		return nil, err
	}
	uses := usesOf(ordered(deltas))
	if err := s.meters.addUsage(ctx, rtx, now, uses); err != nil {
		return nil, err
	}
	for i := range uses {
		t.change(quota.MeterKind, uses[i].SubjectID, false)
	}
	return s.meters.metersAfter(ctx, rtx, uses)
}

// DueJobs implements providerjob.Store. It reads from the writer.
func (s *jobTable) DueJobs(ctx context.Context, node string, now, created time.Time, limit int) ([]*providerjob.Job, error) {
	var rows []jobRow
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	err := source.runStep(ctx, "list open jobs that are due", func(ctx context.Context) error {
		rows = rows[:0]
		return s.writer.NewSelect().Model(&rows).Where("j.due_ms <= ?", now.UnixMilli()).
			Where("(j.node = '' OR j.node = ? OR j.created_ms <= ?)", node, created.UnixMilli()).
			Order("j.due_ms", "j.id").Limit(int64(limit)).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	list := make([]*providerjob.Job, 0, len(rows))
	for i := range rows {
		j, err := s.jobOf(&rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

// FindJob implements providerjob.Store. It reads from the writer.
func (s *jobTable) FindJob(ctx context.Context, id string) (*providerjob.Job, error) {
	var row jobRow
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	err := source.runStep(ctx, "find an open job", func(ctx context.Context) error {
		return s.writer.NewSelect().Model(&row).Where("j.id = ?", id).Scan(ctx)
	})
	switch {
	case fault.Has(err, fault.NotFound), errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // no job, no error: as the interface has it
	case err != nil:
		return nil, err
	}
	return s.jobOf(&row)
}

func (s *jobTable) jobOf(row *jobRow) (*providerjob.Job, error) {
	body, err := s.unzip.DecodeAll(row.Body, nil)
	if err != nil {
		return nil, err
	}
	j, err := providerjob.Decode(body)
	if err == nil {
		j.Settled = row.Settled != 0
	}
	return j, err
}

// PostponeJob implements providerjob.Store.
func (s *jobTable) PostponeJob(ctx context.Context, j *providerjob.Job, due time.Time) error {
	body, err := j.Encode()
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, "postpone an open job", "UPDATE open_jobs SET due_ms = ?, body = ? WHERE id = ?", due.UnixMilli(), s.zip.EncodeAll(body, nil), j.ID)
	return err
}

// SetJobDue implements providerjob.Store.
func (s *jobTable) SetJobDue(ctx context.Context, key, node string, due time.Time) (bool, error) {
	n, err := s.exec(ctx, "schedule the check of an open job", "UPDATE open_jobs SET due_ms = ?, node = CASE WHEN node = '' THEN node ELSE ? END WHERE job_key = ?", due.UnixMilli(), node, key)
	return n > 0, err
}

// SettleJob adds deltas to the meters and marks the job as settled, in one transaction, and
// returns the updated meters. If the job is settled already or deleted, nothing changes and it
// returns no meters. The feed reports the subjects.
func (s *jobTable) SettleJob(ctx context.Context, id string, now time.Time, deltas []quota.Delta) (after []quota.Meter, err error) {
	err = s.InTx(ctx, func(rtx resource.Tx) error {
		after = nil
		open, err := s.markSettled(ctx, rtx, id)
		if err == nil && open {
			after, err = s.chargeJob(ctx, rtx, now, deltas)
		}
		return err
	})
	return after, err
}

// markSettled marks the job as settled and reports whether it was open before.
func (s *jobTable) markSettled(ctx context.Context, rtx resource.Tx, id string) (open bool, err error) {
	err = runInTx(ctx, rtx, "finish an open job", func(ctx context.Context, db bun.IDB) error {
		res, err := db.NewUpdate().Table("open_jobs").Set("settled = 1").Where("id = ?", id).Where("settled = 0").Exec(ctx)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		open = n > 0
		return err
	})
	return open, err
}

// DropJob implements providerjob.Store.
func (s *jobTable) DropJob(ctx context.Context, id string) error {
	_, err := s.exec(ctx, "delete an open job", "DELETE FROM open_jobs WHERE id = ?", id)
	return err
}

// CountJobs implements providerjob.Store. It reads from the writer.
func (s *jobTable) CountJobs(ctx context.Context) (int, error) {
	var n int64
	source := reads{db: s.writer, engine: s.engine, side: s.write}
	err := source.runStep(ctx, "count open jobs", func(ctx context.Context) (err error) {
		n, err = s.writer.NewSelect().Model((*jobRow)(nil)).Count(ctx)
		return err
	})
	return int(n), err
}
