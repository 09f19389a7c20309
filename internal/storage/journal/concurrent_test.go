package journal_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
)

// Writers, a reader that trims behind itself, writes to the disk and Stats at
// once: each record is seen once.
func TestManyWritersAndAReader(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 300
	j := open(t, small(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- j.Run(ctx) }()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := w * each; n < (w+1)*each; {
				switch err := j.Append(recordtest.Chat(n)); {
				case err == nil:
					n++
				case errors.Is(err, journal.ErrFull): // the reader is behind: it makes room
					_ = j.Stats()
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	seen := map[string]int{}
	for pos := (record.Position{}); len(seen) < writers*each; {
		if err := j.Wait(ctx, pos); err != nil {
			t.Fatal(err)
		}
		var got []*record.Attempt
		got, pos = read(j, pos)
		for _, a := range got {
			seen[a.ID]++
		}
		if err := j.Trim(pos); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", id, n)
		}
	}
	if st := j.Stats(); st.Appended != writers*each || st.Lag != 0 || st.Damaged != 0 {
		t.Errorf("stats %+v", st)
	}
}

func BenchmarkAppend(b *testing.B) {
	a := recordtest.Chat(1)
	benchmarkAppend(b, a.EncodedSize(), func(j opened) error { return j.Append(a) })
}

// benchmarkAppend appends entries of a size to a journal that runs and is trimmed.
func benchmarkAppend(b *testing.B, size int, put func(opened) error) {
	b.Helper()
	j := open(b, journal.Options{Dir: b.TempDir(), MaxBytes: 1 << 40})
	ctx, cancel := context.WithCancel(b.Context())
	ran := make(chan error)
	go func() { ran <- j.Run(ctx) }()
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for n := 0; b.Loop(); n++ {
		if err := put(j); err != nil {
			b.Fatal(err)
		}
		if n%4096 == 0 {
			_ = j.Trim(record.Position{Seq: 1 << 62})
		}
	}
	b.StopTimer()
	cancel()
	<-ran
}
