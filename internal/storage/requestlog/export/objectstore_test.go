package export_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/export"
	"sluice/internal/storage/requestlog/objects"
)

// bucket is one of an object store in this process; close ends the store.
func bucket(t *testing.T) (b *objects.Bucket, end func()) {
	t.Helper()
	store := s3mem.New()
	if err := store.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(s.Close)
	return objects.New(objects.Options{
		Bucket: "logs", Endpoint: s.URL, PathStyle: true, AWS: credentials.NewStaticCredentialsProvider("key", "secret", ""), Failures: 1, Backoff: time.Millisecond,
	}), s.Close
}

// keys are those of the files of exports.
func keys(t *testing.T, b *objects.Bucket) (out []string) {
	t.Helper()
	if err := b.List(t.Context(), "exports/", func(o bodies.Object) bool { out = append(out, o.Key); return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

// with gives the runner of a world a bucket, and another name.
func (w *world) with(b *objects.Bucket, name string) *world {
	p := w.runner.Parts
	p.ObjectStore, p.Leases, p.Node = export.NewObjectStore(b), w.store, name
	w.runner = export.New(p)
	return w
}

// otherNode is another node of the same database and log, with files of its own.
func (w *world) otherNode(t *testing.T, b *objects.Bucket, name string) *world {
	t.Helper()
	files, err := export.Open(filepath.Join(t.TempDir(), "exports"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	other := *w
	p := w.runner.Parts
	p.Files, other.files, p.Store = files, files, w.store
	other.runner = export.New(p)
	return other.with(b, name)
}

const otherNode = "0191f3a0-0000-7000-8000-00000000000f"

// A file that is done lies in the bucket, not on the node, and any node reads it: from its
// beginning, from anywhere, and of more pieces than one.
func TestFileInABucket(t *testing.T) {
	t.Parallel()
	b, _ := bucket(t)
	w := newWorld(t, 2300, 1<<30).with(b, node)
	other := w.otherNode(t, b, otherNode)
	for _, format := range []record.ExportFormat{record.ExportJSONL, record.ExportParquet} {
		id, e := w.run(t, record.Export{Fields: plainFields, Format: format})
		if e.State != record.ExportDone || !e.Run.Shared || len(w.files.List()) > 0 {
			t.Fatalf("%s: %+v, and on the node are %v", format, e, w.files.List())
		}
		if diff := cmp.Diff(wantRows(plainFields, 2299, 0), other.read(t, id, e)); diff != "" {
			t.Errorf("%s (-want +got):\n%.1000s", format, diff)
		}
	}
	id, e := w.run(t, record.Export{Fields: []string{"id", "request", "response", "metadata"}})
	if e.Run.Mark.Bytes <= 4<<20 {
		t.Errorf("%d bytes are one piece, which proves little", e.Run.Mark.Bytes)
	}
	file, err := other.runner.ObjectStore.Open(t.Context(), id, e.Run.ID, e.Run.Mark.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int64{0, 1, 1<<20 - 1, 1 << 20, 4<<20 - 1, 4 << 20, e.Run.Mark.Bytes - 1, e.Run.Mark.Bytes} {
		if _, err := file.Seek(offset-e.Run.Mark.Bytes, io.SeekEnd); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(rest, content[offset:]) {
			t.Errorf("behind byte %d are %d bytes, want %d: %v", offset, len(rest), len(content[offset:]), err)
		}
	}
	if empty, e := w.run(t, record.Export{Fields: []string{"id"}, Run: record.ExportRun{Only: "nobody"}}); len(other.read(t, empty, e)) > 0 {
		t.Errorf("an export of nothing: %+v", e)
	}
	if _, err := other.runner.ObjectStore.Open(t.Context(), id, node, 10); !errors.Is(err, export.ErrGone) {
		t.Errorf("a run that was not: %v", err)
	}
}

// What a silent node ran is run by another one, once, from the beginning; should the node
// live after all, its run ends, and the file of the other one stays.
func TestHandover(t *testing.T) {
	t.Parallel()
	b, _ := bucket(t)
	w := newWorld(t, 2500, 1<<30).with(b, node)
	other := w.otherNode(t, b, otherNode)
	id, err := w.order(t.Context(), record.Export{Fields: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.wait(time.Minute)
	pages := 0
	w.logs.before = func(string) error {
		if pages++; pages != 3 {
			return nil
		}
		if err := other.runner.RunPending(t.Context()); err != nil {
			return err
		}
		if e := w.find(t, id); e.Run.Node != node {
			t.Errorf("a node that holds the lease lost its run to %s", e.Run.Node)
		}
		// the lease of a node that is silent runs out by the clock of the database
		if err := w.store.ReleaseLease(t.Context(), "log-export/"+id, node); err != nil {
			return err
		}
		for range 2 { // one to take it, one to run it
			if err := other.runner.RunPending(t.Context()); err != nil {
				return err
			}
		}
		return nil
	}
	if err := w.runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := w.find(t, id)
	if e.State != record.ExportDone || e.Run.Node != otherNode || w.runner.Stats().Done != 0 || other.runner.Stats().Done != 1 || len(w.files.List())+len(other.files.List()) > 0 {
		t.Errorf("%+v; done here %d, there %d", e, w.runner.Stats().Done, other.runner.Stats().Done)
	}
	if diff := cmp.Diff(wantRows([]string{"id"}, 2499, 0), w.read(t, id, e)); diff != "" {
		t.Errorf("(-want +got):\n%.500s", diff)
	}
	for _, key := range keys(t, b) {
		if want := "exports/" + id + "/" + e.Run.ID + "/00000"; key != want {
			t.Errorf("in the bucket is %s beside %s", key, want)
		}
	}
}

// While the bucket is away a run waits; when it is back, it ends.
func TestBucketAway(t *testing.T) {
	t.Parallel()
	b, end := bucket(t)
	end()
	w := newWorld(t, 10, 1<<30).with(b, node)
	id, err := w.order(t.Context(), record.Export{Fields: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.runner.RunPending(t.Context()); !errors.Is(err, bodies.ErrUnavailable) {
		t.Errorf("with the bucket away: %v", err)
	}
	if e := w.find(t, id); e.State != record.ExportRunning || e.Run.Error != "" {
		t.Errorf("with the bucket away: %+v", e)
	}
	restored, _ := bucket(t)
	if err := w.with(restored, node).runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := w.find(t, id); e.State != record.ExportDone || len(w.read(t, id, e)) != 10 {
		t.Errorf("when it is back: %+v", e)
	}
}

// Files in the bucket go when their time is over, or when nobody can ask for them any more,
// whichever node wrote them.
func TestSweepOfTheBucket(t *testing.T) {
	t.Parallel()
	b, _ := bucket(t)
	w := newWorld(t, 3, 1<<30).with(b, node)
	old, _ := w.run(t, record.Export{Fields: []string{"id"}})
	w.clock.wait(retention - time.Hour)
	young, e := w.run(t, record.Export{Fields: []string{"id"}})
	archived, _ := w.run(t, record.Export{Fields: []string{"id"}})
	if err := w.edit(t.Context(), archived, func(r *resource.Record, _ *record.Export) { r.Status = resource.Archived }); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(context.Background(), "exports/"+young+"/"+otherNode+"/00000", []byte("of a run that was given up")); err != nil {
		t.Fatal(err)
	}
	w.clock.wait(time.Hour)
	if err := w.otherNode(t, b, otherNode).runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, want := keys(t, b), []string{"exports/" + young + "/" + e.Run.ID + "/00000"}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v, without %s", left, want, old)
	}
}
