package journal_test

import (
	"bytes"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
)

// A record whose bodies are too large as the client had them is kept too, with the end of
// each missing: what was small stays whole.
func TestAllBodiesGive(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(journal.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	a := recordtest.Chat(1)
	for i, size := range [5]int{5 << 20, 100, 5 << 20, 200, 5 << 20} {
		b := a.Bodies()[i]
		b.Bytes, b.Size, b.Truncated = bytes.Repeat([]byte{'x'}, size), int64(size), false
	}
	if err := j.Append(a); err != nil {
		t.Fatal(err)
	}
	j.Records().Read(record.Position{}, func(e record.Entry) bool {
		got := e.Attempt
		for i, b := range got.Bodies() {
			if complete := i%2 == 1; b.Truncated == complete || (int64(len(b.Bytes)) == b.Size) != complete || len(b.Bytes) < 100 || !complete && len(b.Bytes) < 1<<20 {
				t.Errorf("body %d: %d of %d bytes, truncated %v", i, len(b.Bytes), b.Size, b.Truncated)
			}
		}
		return true
	})
}
