package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
)

// batchFiles belong to a workspace until they expire, with their content.
func batchFiles(t *testing.T, s *sqlstore.Store) {
	ctx, now := t.Context(), time.Date(2001, 10, 20, 10, 0, 0, 0, time.UTC) // long ago, so that the sweep finds nothing of other tests
	workspaceID, otherID := ident.NewID(), ident.NewID()
	var ids []string
	for i := range 3 {
		f := &batch.File{ID: ident.NewObjectID(batch.FilePrefix), WorkspaceID: workspaceID, Name: "Grüße.jsonl", Purpose: batch.PurposeInput, Bytes: 7, Lines: 1, Chunks: 1, Created: now.Add(time.Duration(i) * time.Second), Expires: now.Add(time.Hour)}
		ids = append(ids, f.ID)
		must(t, s.AddChunk(ctx, batch.Chunk{FileID: f.ID, Expires: f.Expires, Data: []byte("\x00sealed\xff")}))
		must(t, s.AddChunk(ctx, batch.Chunk{FileID: f.ID, Expires: f.Expires, Data: []byte("again")})) // changes nothing
		must(t, s.SaveFile(ctx, f))
		must(t, s.SaveFile(ctx, f))
	}
	page := batch.Page{WorkspaceID: workspaceID, Limit: 2, Now: now}
	first, err := s.ListFiles(ctx, page, "")
	must(t, err)
	same(t, "the first page", namesOf(first), ids[2]+" "+ids[1])
	page.After = ids[1]
	rest, err := s.ListFiles(ctx, page, batch.PurposeInput)
	must(t, err)
	same(t, "the rest", namesOf(rest), ids[0])
	none, err := s.ListFiles(ctx, batch.Page{WorkspaceID: workspaceID, Limit: 2, Now: now}, batch.PurposeOutput)
	must(t, err)
	same(t, "of another purpose", len(none), 0)
	_, err = s.ListFiles(ctx, batch.Page{WorkspaceID: otherID, After: ids[1], Limit: 2, Now: now}, "")
	wantCode(t, "after a file of another workspace", err, fault.NotFound)

	got, err := s.FindFile(ctx, workspaceID, ids[0], now)
	must(t, err)
	same(t, "the name", got.Name, "Grüße.jsonl")
	_, err = s.FindFile(ctx, otherID, ids[0], now)
	wantCode(t, "in another workspace", err, fault.NotFound)
	_, err = s.FindFile(ctx, workspaceID, ids[0], now.Add(time.Hour))
	wantCode(t, "the moment it expires", err, fault.NotFound)
	data, err := s.FindChunk(ctx, ids[0], 0)
	must(t, err)
	same(t, "the content", string(data), "\x00sealed\xff")

	changed, err := s.RewriteChunks(ctx, func(c batch.Chunk) ([]byte, error) {
		if c.FileID == ids[0] {
			return []byte("sealed again"), nil
		}
		return nil, nil
	})
	must(t, err)
	same(t, "rewritten parts", changed, 1)
	data, err = s.FindChunk(ctx, ids[0], 0)
	must(t, err)
	same(t, "a rewritten part", string(data), "sealed again")

	wantCode(t, "delete in another workspace", s.DeleteFile(ctx, otherID, ids[0]), fault.NotFound)
	must(t, s.DeleteFile(ctx, workspaceID, ids[0]))
	wantCode(t, "delete again", s.DeleteFile(ctx, workspaceID, ids[0]), fault.NotFound)
	_, err = s.FindChunk(ctx, ids[0], 0)
	wantCode(t, "the content of a deleted file", err, fault.NotFound)

	must(t, s.SweepBatches(ctx, now.Add(time.Hour)))
	_, err = s.FindChunk(ctx, ids[1], 0)
	wantCode(t, "the content of an expired file", err, fault.NotFound)
}

func namesOf(list []*batch.File) string {
	var ids []string
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	return strings.Join(ids, " ")
}

// batches and their files are tested one after the other, because each sweep deletes what is expired
// of both.
func batches(t *testing.T, s *sqlstore.Store) {
	batchFiles(t, s)
	batchChanges(t, s)
}

// batches change as a whole, together with what the change adds, and are due until they end.
func batchChanges(t *testing.T, s *sqlstore.Store) {
	ctx, now := t.Context(), time.Date(2001, 10, 21, 10, 0, 0, 0, time.UTC)
	b := &batch.Batch{ID: ident.NewObjectID(batch.IDPrefix), WorkspaceID: ident.NewID(), State: batch.Validating, Due: now}
	b.Times.Created = now
	must(t, s.AddBatch(ctx, b, now.Add(time.Hour)))
	_, err := s.FindBatch(ctx, ident.NewID(), b.ID)
	wantCode(t, "in another workspace", err, fault.NotFound)
	due, err := s.DueBatches(ctx, now, 10)
	must(t, err)
	same(t, "due", strings.Join(due, " "), b.ID)

	fileID, tries := ident.NewObjectID(batch.FilePrefix), 0
	after, err := s.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) {
		if tries++; tries == 1 { // another change comes first
			_, err := s.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) { b.Progress.Total = 9; return nil, nil })
			must(t, err)
		}
		b.State, b.Due = batch.InProgress, now.Add(time.Minute)
		return &batch.Added{
			Chunks: []batch.Chunk{{FileID: fileID, Number: 1, Expires: now.Add(time.Hour), Data: []byte("x")}},
			Files:  []*batch.File{{ID: fileID, WorkspaceID: b.WorkspaceID, Purpose: batch.PurposeOutput, Created: now, Expires: now.Add(time.Hour)}},
		}, nil
	})
	must(t, err)
	same(t, "both changes", after.Progress.Total, int64(9))
	same(t, "tries", tries, 2)
	_, err = s.FindChunk(ctx, fileID, 1)
	must(t, err)
	_, err = s.FindFile(ctx, b.WorkspaceID, fileID, now)
	must(t, err)
	due, err = s.DueBatches(ctx, now, 10)
	must(t, err)
	same(t, "not due yet", len(due), 0)

	refused := errors.New("refused")
	if _, err := s.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) { b.State = batch.Failed; return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("a change that fails: %v", err)
	}
	_, err = s.UpdateBatch(ctx, b.ID, func(b *batch.Batch) (*batch.Added, error) { b.State = batch.Completed; return nil, nil })
	must(t, err)
	due, err = s.DueBatches(ctx, now.Add(time.Hour), 10)
	must(t, err)
	same(t, "ended", len(due), 0)
	list, err := s.ListBatches(ctx, batch.Page{WorkspaceID: b.WorkspaceID, Limit: 2, Now: now})
	must(t, err)
	same(t, "listed", len(list), 1)
	list, err = s.ListBatches(ctx, batch.Page{WorkspaceID: b.WorkspaceID, Limit: 2, After: b.ID, Now: now})
	must(t, err)
	same(t, "after the last", len(list), 0)
	must(t, s.SweepBatches(ctx, now.Add(time.Hour)))
	_, err = s.FindBatch(ctx, "", b.ID)
	wantCode(t, "expired", err, fault.NotFound)
}
