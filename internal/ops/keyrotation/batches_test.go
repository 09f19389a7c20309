package keyrotation

import (
	"testing"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/ident"
)

// Files and batches that the first key sealed can be read with the second key alone.
func TestResealBatches_LeavesNothingUnderTheOldKey(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.Now()
	s := emptyStore(t)
	first, both, second := boxOf(t, firstKey), boxOf(t, secondKey, firstKey), boxOf(t, secondKey)
	fileID, b := ident.NewObjectID(batch.FilePrefix), &batch.Batch{ID: ident.NewObjectID(batch.IDPrefix), State: batch.Completed}
	const parts = 20
	for i := range parts {
		data, err := first.Seal([]byte("part"), batch.ChunkContext(fileID, i))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AddChunk(ctx, batch.Chunk{FileID: fileID, Number: i, Expires: now.Add(time.Hour), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if b.Headers, err = first.Seal([]byte("[]"), batch.HeaderContext(b.ID)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddBatch(ctx, b, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{parts + 1, 0} {
		if n, err := resealBatches(ctx, s, both); n != want || err != nil {
			t.Errorf("%d written, %v; want %d", n, err, want)
		}
	}
	for i := range parts {
		data, err := s.FindChunk(ctx, fileID, i)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := second.Open(data, batch.ChunkContext(fileID, i)); string(plain) != "part" || err != nil {
			t.Errorf("part %d: %q, %v", i, plain, err)
		}
	}
	got, err := s.FindBatch(ctx, "", b.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Open(got.Headers, batch.HeaderContext(b.ID)); err != nil {
		t.Error(err)
	}
}
