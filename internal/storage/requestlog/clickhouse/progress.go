package clickhouse

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// position is how much of this node's journal is in the tables.
type position struct {
	next   uint64
	bodies bodies.Mark
	open   bool // a batch is in progress
}

// name returns the name of this node's row.
func (d *rowWriter) name() string { return "journal " + d.o.Node }

// latest makes a query see what was stored through another replica of the server.
var latest = map[string]string{"select_sequential_consistency": "1"}

// Progress implements requestlog.RowStore.
func (d *rowWriter) Progress(ctx context.Context) (requestlog.Progress, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := d.load(ctx); err != nil {
		return requestlog.Progress{}, err
	}
	return requestlog.Progress{Next: record.Position{Seq: d.last.next}, BodyStore: d.last.bodies}, nil
}

// load reads the position.
func (d *rowWriter) load(ctx context.Context) error {
	d.known = false
	if err := d.prepare(ctx); err != nil {
		return err
	}
	var p client.Params
	var last position
	version := d.version
	err := d.c.Query(ctx, client.Statement{
		SQL:    "SELECT version, next_seq, body_file, body_size, open FROM progress FINAL WHERE name = " + p.Text(d.name()),
		Params: &p, Settings: latest,
	}, func(scan func(...any) error) error {
		return scan(&version, &last.next, &last.bodies.File, &last.bodies.Size, &last.open)
	})
	if err != nil {
		return fmt.Errorf("read progress of the log database: %w", err)
	}
	d.known, d.last, d.version = true, last, max(d.version, version)
	return nil
}

// note stores the position. Its version is higher than that of every earlier try, including tries
// without a response.
func (d *rowWriter) note(ctx context.Context, pos position) error {
	d.version = max(d.version+1, uint64(time.Now().UnixMicro()))
	var row client.Rows
	row.Text(d.name())
	row.Uint64(d.version)
	row.Uint64(pos.next)
	row.Uint32(pos.bodies.File)
	row.Int64(pos.bodies.Size)
	row.Bool(pos.open)
	d.known = false
	if err := d.c.Insert(ctx, "progress", []string{"name", "version", "next_seq", "body_file", "body_size", "open"}, row.Bytes()); err != nil {
		return fmt.Errorf("write log progress: %w", err)
	}
	d.known, d.last = true, pos
	return nil
}
