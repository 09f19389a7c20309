package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// partRows is the number of rows that one part of retention processes.
const partRows = 100_000

// wave adds the condition that selects the rows of a retention batch.
func (s *selection) wave(w requestlog.RetentionBatch) { s.add(s.inWave(w)) }

func (s *selection) inWave(w requestlog.RetentionBatch) string {
	condition := "started < " + s.Time(w.Before)
	if w.Workspaces != nil {
		condition += " AND workspace_id IN " + s.Texts(w.Workspaces)
	}
	return condition
}

// addNode adds the condition that rows have their bodies in files of a node. An empty
// node means this node.
func (s *selection) addNode(d *server, home string) {
	if home == "" {
		home = d.o.Node
	}
	s.add("node = " + s.Text(home) + " AND body_file BETWEEN 1 AND " + s.Uint(bodies.Single-1))
}

// single returns the condition that selects rows whose bodies are separate objects.
func (s *selection) single() string { return "body_file = " + s.Uint(bodies.Single) }

// retention deletes rows and bodies that are no longer retained.
type retention struct {
	*server
	rows *rowWriter

	deleting sync.Mutex // guards others
	others   deferredDeletes
}

// part limits a selection to its first rows by time: rows of one day, about partRows of
// them. Rows of the same microsecond stay together, so there may be more. It returns the
// number of rows and the time of the last one.
func (d *retention) part(ctx context.Context, s *selection) (rows int64, until time.Time, err error) {
	var first time.Time
	one := func(dest ...any) func(func(...any) error) error {
		return func(scan func(...any) error) error { return scan(dest...) }
	}
	err = d.ask(ctx, "SELECT count(), toUnixTimestamp64Micro(min(started)) FROM attempts FINAL"+s.where(), &s.Params, one(&rows, (*micros)(&first)))
	if err != nil || rows == 0 {
		return 0, until, err
	}
	s.add("started < " + s.Time(first.Truncate(24*time.Hour).Add(24*time.Hour)))
	err = d.ask(ctx, "SELECT count(), toUnixTimestamp64Micro(max(started)) FROM (SELECT started FROM attempts FINAL"+s.where()+
		" ORDER BY started LIMIT "+strconv.Itoa(partRows)+" WITH TIES)", &s.Params, one(&rows, (*micros)(&until)))
	s.add("started <= " + s.Time(until))
	return rows, until, err
}

// eachWave calls do for each retention batch until one returns a number above 0 or an error.
func eachWave(due requestlog.RetentionCutoffs, do func(requestlog.RetentionBatch) (int64, error)) (int64, error) {
	for _, w := range due.Waves() {
		if n, err := do(w); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// otherWait is how long rows of another node that are due in some workspaces are left to
// that node. It needs its rows to find the bodies to delete, and checks once an hour. When
// rows are due in every workspace it does not need them, because it deletes complete
// files. (ours)
const otherWait = 2 * time.Hour

// deferredDeletes records for how long rows of other nodes have been due.
type deferredDeletes struct {
	wait    time.Duration
	due     requestlog.RetentionCutoffs // the cutoffs at since
	since   time.Time
	overdue requestlog.RetentionCutoffs // due for at least wait while this process ran
}

// ready returns the part of due that other nodes had enough time to delete.
func (o *deferredDeletes) ready(due requestlog.RetentionCutoffs, now time.Time) requestlog.RetentionCutoffs {
	if o.since.IsZero() {
		o.due, o.since = due, now
	}
	if now.Sub(o.since) >= o.wait {
		o.overdue, o.due, o.since = o.due, due, now
	}
	return due.And(o.overdue)
}

// Delete implements requestlog.RowStore. For days that are due in every workspace the server
// drops complete partitions. Rows of other nodes that are due only in some workspaces are
// deleted later, so that bodies are deleted before the rows that refer to them.
func (d *retention) Delete(ctx context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	n, err := eachWave(due, func(w requestlog.RetentionBatch) (int64, error) { return d.deleteDay(ctx, w, w.Workspaces != nil) })
	if err == nil && n == 0 {
		d.deleting.Lock()
		ready := d.others.ready(due, time.Now())
		d.deleting.Unlock()
		n, err = eachWave(ready, func(w requestlog.RetentionBatch) (int64, error) { return d.deleteDay(ctx, w, false) })
	}
	if err == nil && n == 0 && !due.Before.IsZero() {
		s := new(selection)
		s.add("started < " + s.Time(due.Before))
		err = d.deleteTrail(ctx, s)
	}
	if err != nil {
		return 0, fmt.Errorf("delete log rows: %w", err)
	}
	return n, nil
}

// deleteDay deletes the rows of a retention batch on the first day that has any. If isLocal
// is set it deletes only rows of this node.
func (d *retention) deleteDay(ctx context.Context, w requestlog.RetentionBatch, isLocal bool) (rows int64, err error) {
	s := new(selection)
	s.wave(w)
	if isLocal {
		s.add("node = " + s.Text(d.o.Node))
	}
	var first time.Time
	err = d.ask(ctx, "SELECT count(), toUnixTimestamp64Micro(min(started)) FROM attempts"+s.where(), &s.Params,
		func(scan func(...any) error) error { return scan(&rows, (*micros)(&first)) })
	if err != nil || rows == 0 {
		return 0, err
	}
	day := first.Truncate(24 * time.Hour)
	s.add("started < " + s.Time(day.Add(24*time.Hour)))
	err = d.ask(ctx, "SELECT count() FROM attempts FINAL"+s.where(), &s.Params, func(scan func(...any) error) error { return scan(&rows) })
	if err != nil {
		return 0, err
	}
	wave := *s
	wave.conditions = []string{"id IN (SELECT id FROM attempts" + s.where() + ")"}
	if err := d.deleteTrail(ctx, &wave); err != nil {
		return 0, err
	}
	if w.Workspaces == nil && !day.Add(24*time.Hour).After(w.Before) && !day.Before(firstDay) {
		return rows, d.change(ctx, "ALTER TABLE attempts DROP PARTITION ID '"+day.Format("20060102")+"'", nil)
	}
	return rows, d.change(ctx, "DELETE FROM attempts"+s.where(), &s.Params)
}

// firstDay is the first day that has its own partition.
var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// attached are the tables with what belongs to rows of attempts.
var attached = []string{"corrections", "late_hooks"}

// deleteTrail deletes the corrections and the late results of guardrails in a selection. Usually there
// are none, and a count is cheaper than a DELETE that finds nothing.
func (d *retention) deleteTrail(ctx context.Context, s *selection) error {
	for _, table := range attached {
		var n int64
		err := d.ask(ctx, "SELECT count() FROM "+table+s.where(), &s.Params, func(scan func(...any) error) error { return scan(&n) })
		if err == nil && n > 0 {
			err = d.change(ctx, "DELETE FROM "+table+s.where(), &s.Params)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change runs a statement of retention and returns when it has taken effect.
func (d *retention) change(ctx context.Context, sql string, p *client.Params) error {
	return d.c.Exec(ctx, client.Statement{SQL: sql, Params: p, Settings: map[string]string{"lightweight_deletes_sync": "2", "mutations_sync": "1"}})
}

// blanks contains the values that requestlog.Blank gives to the columns of attempts.
var blanks = map[string]string{
	"blank": "true", "metadata": "map()", "end_user": "''", "extra": "''", "span_id": "''", "span_name": "''", "key_name": "''",
	"path": "''", "upstream_url": "''", "remote": "''", "target_path": "''", "cost_terms": "''", "bill_basis": "''",
	"charged": "''", "charged_at": "NULL", "charged_nano": "0",
}

// Blank implements requestlog.RowStore. It inserts the rows again with a higher version. The
// server removes the older version when it merges the two, and nothing reads it meanwhile.
func (d *retention) Blank(ctx context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	d.rows.writing.Lock()
	defer d.rows.writing.Unlock()
	n, err := eachWave(due, func(w requestlog.RetentionBatch) (int64, error) {
		s := new(selection)
		s.add("NOT blank")
		s.wave(w)
		rows, _, err := d.part(ctx, s)
		if err != nil || rows == 0 {
			return 0, err
		}
		wave := *s
		wave.conditions = []string{"id IN (SELECT id FROM attempts FINAL" + s.where() + ")"}
		if err := d.deleteTrail(ctx, &wave); err != nil {
			return 0, err
		}
		return rows, d.again(ctx, &s.Params, blanks, "a.version + 1", s.where(), "")
	})
	if err != nil {
		return 0, fmt.Errorf("blank log rows: %w", err)
	}
	return n, nil
}

// DueFiles implements requestlog.RowStore.
func (d *retention) DueFiles(ctx context.Context, home string, due requestlog.RetentionCutoffs) (files []uint32, err error) {
	for _, w := range due.Waves() {
		s := new(selection)
		s.addNode(d.server, home)
		s.wave(w)
		err := d.ask(ctx, "SELECT DISTINCT body_file FROM attempts FINAL"+s.where()+" ORDER BY body_file", &s.Params, func(scan func(...any) error) error {
			var file uint32
			err := scan(&file)
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find old bodies: %w", err)
		}
	}
	return files, nil
}

// RetainedSpans implements requestlog.RowStore.
func (d *retention) RetainedSpans(ctx context.Context, home string, file uint32, due requestlog.RetentionCutoffs) (spans []bodies.Span, err error) {
	s := new(selection)
	s.addNode(d.server, home)
	s.add("body_file = " + s.Uint(uint64(file)))
	for _, w := range due.Waves() {
		s.add("NOT (" + s.inWave(w) + ")")
	}
	err = d.ask(ctx, "SELECT body_block, body_at, request_length + response_length FROM attempts FINAL"+s.where(), &s.Params, func(scan func(...any) error) error {
		var span bodies.Span
		err := scan(&span.Block, &span.Offset, &span.Size)
		spans = append(spans, span)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find stored bodies: %w", err)
	}
	return spans, nil
}

// DueKeys implements requestlog.RowStore.
func (d *retention) DueKeys(ctx context.Context, due requestlog.RetentionCutoffs) (keys []string, wave requestlog.RetentionCutoffs, err error) {
	_, err = eachWave(due, func(w requestlog.RetentionBatch) (int64, error) {
		s := new(selection)
		s.add(s.single())
		s.wave(w)
		rows, until, err := d.part(ctx, s)
		if err != nil || rows == 0 {
			return 0, err
		}
		wave = w.RetentionCutoffs().Until(until)
		return rows, d.ask(ctx, "SELECT body_key FROM attempts FINAL"+s.where(), &s.Params, func(scan func(...any) error) error {
			var key string
			err := scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	if err != nil {
		return nil, requestlog.RetentionCutoffs{}, fmt.Errorf("find old bodies: %w", err)
	}
	return keys, wave, nil
}

// forgotten contains the column values of a row without bodies.
var forgotten = map[string]string{"body_key": "''", "body_file": "0", "body_block": "0", "body_at": "0", "request_length": "0", "response_length": "0"}

// Forget implements requestlog.RowStore.
func (d *retention) Forget(ctx context.Context, home string, file uint32, due requestlog.RetentionCutoffs) (int64, error) {
	d.rows.writing.Lock()
	defer d.rows.writing.Unlock()
	n, err := eachWave(due, func(w requestlog.RetentionBatch) (int64, error) {
		s := new(selection)
		if file == bodies.Single {
			s.add(s.single())
		} else {
			s.addNode(d.server, home)
			s.add("body_file = " + s.Uint(uint64(file)))
		}
		s.wave(w)
		rows, _, err := d.part(ctx, s)
		if err != nil || rows == 0 {
			return 0, err
		}
		return rows, d.again(ctx, &s.Params, forgotten, "a.version + 1", s.where(), "")
	})
	if err != nil {
		return 0, fmt.Errorf("delete references to bodies: %w", err)
	}
	return n, nil
}

// FirstFile implements requestlog.RowStore.
func (d *retention) FirstFile(ctx context.Context, home string) (file uint32, err error) {
	s := new(selection)
	s.addNode(d.server, home)
	err = d.ask(ctx, "SELECT min(body_file) FROM attempts FINAL"+s.where(), &s.Params, func(scan func(...any) error) error { return scan(&file) })
	if err != nil {
		return 0, fmt.Errorf("find first bodies: %w", err)
	}
	return file, nil
}

// again inserts the rows that a condition selects once more, with changed columns and a
// version that replaces the older one.
func (d *server) again(ctx context.Context, p *client.Params, changed map[string]string, version, where, join string) error {
	names, values := []string{"version"}, []string{version}
	for _, c := range columns {
		names = append(names, c.name)
		if v, ok := changed[c.name]; ok {
			values = append(values, v)
		} else {
			values = append(values, "a."+c.name)
		}
	}
	return d.c.Exec(ctx, client.Statement{
		SQL: "INSERT INTO attempts (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") +
			" FROM (SELECT * FROM attempts FINAL" + where + ") AS a" + join,
		Params: p, Settings: inserting,
	})
}

// inserting contains the settings of an INSERT … SELECT statement.
var inserting = map[string]string{
	"do_not_merge_across_partitions_select_final": "1", "use_skip_indexes_if_final": "1", "compile_expressions": "0",
	"async_insert": "0", "max_partitions_per_insert_block": "0",
}
