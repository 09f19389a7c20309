package export_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"sluice/internal/control/logs"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/export"
	"sluice/internal/storage/requestlog/requestlogtest"
	"sluice/internal/storage/sqlstore"
)

const (
	node      = "0191f3a0-0000-7000-8000-00000000000e"
	retention = 7 * 24 * time.Hour
)

// later is behind all chats.
var later = recordtest.Epoch.Add(24 * time.Hour)

// chats is a log of chats, with a look at every step.
type chats struct {
	requestlogtest.Memory
	byID   map[string]*record.Attempt
	before func(step string) error // before each reading
}

func newChats(n int) *chats {
	c := &chats{byID: make(map[string]*record.Attempt, n), before: func(string) error { return nil }}
	err := c.Write(context.Background(), func(s requestlog.Sink) (p requestlog.Progress, err error) {
		for i := range n {
			a := recordtest.Chat(i)
			c.byID[a.ID] = a
			err = cmp.Or(err, s.Add(a, bodies.Ref{}))
		}
		return p, err
	})
	if err != nil {
		panic(err) // it keeps everything in memory
	}
	return c
}

func (c *chats) List(ctx context.Context, q record.Query) (record.Page, error) {
	if err := c.before("list"); err != nil {
		return record.Page{}, err
	}
	return c.Memory.List(ctx, q)
}

func (c *chats) Find(_ context.Context, _, _, id string) (record.Attempt, error) {
	if err := c.before("find"); err != nil {
		return record.Attempt{}, err
	}
	if a := c.byID[id]; a != nil {
		return *a, nil
	}
	return record.Attempt{}, fault.New(fault.NotFound, "")
}

// watched is a control plane with a look at every write.
type watched struct {
	*sqlstore.Store
	before func(step string) error // before and behind each transaction
}

func (w watched) InTx(ctx context.Context, f func(resource.Tx) error) error {
	if err := w.before("before"); err != nil {
		return err
	}
	return cmp.Or(w.Store.InTx(ctx, f), w.before("behind"))
}

// clock stands still until it is turned.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a node that runs exports of a log of chats.
type world struct {
	store  *sqlstore.Store
	logs   *chats
	files  *export.Files
	runner *export.Runner
	clock  *clock
}

// open opens a world in a directory, which it may have been left in before.
func open(ctx context.Context, dir string, rows int, maxBytes int64, inspect func(string) error, log io.Writer) (*world, error) {
	st, err := sqlstore.Open(ctx, sqlstore.Settings{Engine: sqlstore.SQLite, Path: filepath.Join(dir, "sluice.db")}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := st.Migrate(ctx); err != nil {
		return nil, err
	}
	w := &world{store: st, logs: newChats(rows), clock: &clock{now: later}}
	if w.files, err = export.Open(filepath.Join(dir, "exports"), maxBytes); err != nil {
		return nil, err
	}
	w.logs.before = inspect
	w.runner = export.New(export.Parts{
		Store: watched{st, inspect}, Logs: w.logs, Files: w.files, Columns: logs.ExportColumns, Node: node, Retention: retention, Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(log, nil)), PartBytes: 64 << 10,
	})
	return w, nil
}

func newWorld(t *testing.T, rows int, maxBytes int64) *world {
	t.Helper()
	w, err := open(t.Context(), t.TempDir(), rows, maxBytes, func(string) error { return nil }, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// newWorldIn is a world whose files of exports lie in a directory of their own.
func newWorldIn(t *testing.T, dir string, rows int) *world {
	t.Helper()
	w := newWorld(t, rows, 1<<30)
	files, err := export.Open(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	p := w.runner.Parts
	p.Files, w.files = files, files
	w.runner = export.New(p)
	return w
}

// order puts a started export on record.
func (w *world) order(ctx context.Context, e record.Export) (string, error) {
	e.State, e.Run = record.ExportRunning, record.ExportRun{ID: ident.NewID(), Node: node, Started: later, Only: e.Run.Only}
	body, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	rec := resource.Record{
		Kind: record.ExportKind, ID: ident.NewID(), OrgID: recordtest.Org, WorkspaceID: recordtest.Workspace, Status: resource.Active, Version: 1, Created: later, Updated: later,
		Body: body, Index: []resource.IndexEntry{{Name: "user", Value: "ada"}, {Name: record.ExportNodeIndex, Value: node}, {Name: record.ExportRunningIndex, Value: record.ExportRunningValue}},
	}
	return rec.ID, w.store.InTx(ctx, func(tx resource.Tx) error { return tx.Insert(ctx, rec) })
}

// run orders an export, and does what there is to do.
func (w *world) run(t *testing.T, e record.Export) (id string, after record.Export) {
	t.Helper()
	id, err := w.order(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	return id, w.find(t, id)
}

func (w *world) find(t *testing.T, id string) record.Export {
	t.Helper()
	rec, err := w.store.Find(t.Context(), record.ExportKind, id)
	if err != nil {
		t.Fatal(err)
	}
	row, err := resource.Decode[record.Export](rec)
	if err != nil {
		t.Fatal(err)
	}
	return row.Value
}

// edit changes an order as the administration would.
func (w *world) edit(ctx context.Context, id string, f func(*resource.Record, *record.Export)) error {
	return w.store.InTx(ctx, func(tx resource.Tx) error {
		rec, err := tx.Find(ctx, record.ExportKind, id)
		if err != nil {
			return err
		}
		row, err := resource.Decode[record.Export](rec)
		if err != nil {
			return err
		}
		f(&rec, &row.Value)
		if rec.Body, err = json.Marshal(row.Value); err != nil {
			return err
		}
		return tx.Update(ctx, rec)
	})
}

// read is a file, row by row, whatever its form: each a JSON object as a line has it.
func (w *world) read(t *testing.T, id string, e record.Export) (rows []map[string]any) {
	t.Helper()
	file := w.open(t, id, e)
	defer func() { _ = file.Close() }() // it was read
	content, err := io.ReadAll(file)
	if err != nil || int64(len(content)) != e.Run.Mark.Bytes {
		t.Fatalf("the file has %d bytes, the order says %d: %v", len(content), e.Run.Mark.Bytes, err)
	}
	if e.Format == record.ExportParquet {
		return readParquet(t, bytes.NewReader(content), int64(len(content)), e.Fields)
	}
	var plain io.Reader = bytes.NewReader(content)
	switch e.Compression {
	case record.ExportGzip:
		plain, err = gzip.NewReader(plain)
	case record.ExportZstd:
		plain, err = zstd.NewReader(plain)
	case record.ExportPlain:
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("}\n")) || !inOrder(line, e.Fields) {
			t.Fatalf("%s is no line", line)
		}
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// open opens a file where the order says that it is.
func (w *world) open(t *testing.T, id string, e record.Export) io.ReadCloser {
	t.Helper()
	var file io.ReadCloser
	var err error
	if e.Run.Shared {
		file, err = w.runner.ObjectStore.Open(t.Context(), id, e.Run.ID, e.Run.Mark.Bytes)
	} else {
		file, err = w.files.Read(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// inOrder reports whether a line has its fields in the order of the request.
func inOrder(line []byte, fields []string) bool {
	last := -1
	for _, name := range fields {
		next := bytes.Index(line, []byte(`"`+name+`":`))
		if next < last {
			return false
		}
		last = next
	}
	return true
}

func readParquet(t *testing.T, file io.ReaderAt, size int64, fields []string) (rows []map[string]any) {
	t.Helper()
	p, err := parquet.OpenFile(file, size)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Schema().Fields() {
		names = append(names, f.Name())
	}
	if !slices.Equal(names, fields) {
		t.Fatalf("the columns are %v, want %v", names, fields)
	}
	columns := logs.ExportColumns(fields)
	for _, group := range p.RowGroups() {
		r := group.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				out := map[string]any{}
				for i, v := range row {
					out[names[i]] = plainOf(t, columns[i].Type, v)
				}
				rows = append(rows, out)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if p.NumRows() != int64(len(rows)) {
		t.Fatalf("the footer tells of %d rows, there are %d", p.NumRows(), len(rows))
	}
	return rows
}

// plainOf is a value as JSON has it.
func plainOf(t *testing.T, kind record.ExportType, v parquet.Value) (out any) {
	t.Helper()
	switch {
	case v.IsNull():
		return nil
	case kind == record.ExportCount:
		return float64(v.Int64())
	case kind == record.ExportAmount:
		return v.Double()
	case kind == record.ExportFlag:
		return v.Boolean()
	case kind == record.ExportTime:
		return time.UnixMilli(v.Int64()).UTC().Format("2006-01-02T15:04:05.000Z")
	case kind == record.ExportText:
		return strings.Clone(string(v.ByteArray()))
	}
	if err := json.Unmarshal(v.ByteArray(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
