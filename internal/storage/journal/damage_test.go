package journal_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
)

// recordSpan is where a record stands: the bytes from..to of a file, behind its header and
// without the zeros up to the next multiple of eight, which nobody reads.
type recordSpan struct{ file, from, to int }

// run is what a process that was killed left: its files, and where each record stands.
func run(t *testing.T, records int) (files [][]byte, spans []recordSpan) {
	t.Helper()
	o := small(t.TempDir())
	j := open(t, o)
	put(t, j, 0, records)
	names, err := filepath.Glob(filepath.Join(o.Dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
		for from := 64; from+8 <= len(b) && binary.NativeEndian.Uint64(b[from:]) != 0; {
			to := from + 24 + int(binary.NativeEndian.Uint32(b[from:]))
			spans = append(spans, recordSpan{i, from, to})
			from = (to + 7) &^ 7
		}
	}
	if len(spans) != records {
		t.Fatalf("%d places of %d records", len(spans), records)
	}
	return files, spans
}

// Whatever is damaged behind the headers of files, every record that the damage does not
// touch is read, before and behind it, once and in order; nothing else is, and who goes on
// from any place finds the same.
func TestDamageCostsWhatItTouches(t *testing.T) {
	t.Parallel()
	const records = 60
	original, spans := run(t, records)
	rapid.Check(t, func(t *rapid.T) {
		files := make([][]byte, len(original))
		for i := range original {
			files[i] = bytes.Clone(original[i])
		}
		hurt := make([]bool, records)
		for range rapid.IntRange(1, 4).Draw(t, "faults") {
			i := rapid.IntRange(0, len(files)-1).Draw(t, "file")
			from := rapid.IntRange(64, len(files[i])-1).Draw(t, "from")
			to := min(from+rapid.IntRange(1, 6000).Draw(t, "length"), len(files[i]))
			damage(t, files[i][from:to]) // which may mend what an earlier fault did
		}
		for n, p := range spans {
			hurt[n] = !bytes.Equal(files[p.file][p.from:p.to], original[p.file][p.from:p.to])
		}
		ids := readDamaged(t, files)
		var want []string
		for n := range records {
			if !hurt[n] {
				want = append(want, recordtest.Chat(n).ID)
			}
		}
		if got := strings.Join(ids, "\n"); got != strings.Join(want, "\n") {
			t.Fatalf("%d records are read, want %d:\n%s", len(ids), len(want), got)
		}
	})
}

// damage is zeros, noise, a flipped bit, or what stands elsewhere.
func damage(t *rapid.T, b []byte) {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		clear(b)
	case 1:
		copy(b, rapid.SliceOfN(rapid.Byte(), len(b), len(b)).Draw(t, "noise"))
	case 2:
		b[0] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	case 3:
		copy(b[len(b)/2:], b)
	}
}

// readDamaged is what a journal of these files reads, twice, and from the middle.
func readDamaged(t *rapid.T, files [][]byte) (ids []string) {
	dir, err := os.MkdirTemp("", "damaged")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	o := small(dir)
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	for i, b := range files {
		if err := os.WriteFile(filepath.Join(dir, segmentName(i)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	var starts []record.Position
	pos := record.Position{}
	for {
		var id string
		next := j.Read(pos, func(e record.Entry) bool { id = e.Attempt.ID; return false })
		if id == "" {
			break
		}
		ids, starts, pos = append(ids, id), append(starts, pos), next
	}
	if len(ids) == 0 {
		return ids
	}
	n := rapid.IntRange(0, len(ids)-1).Draw(t, "go on from")
	for _, from := range []record.Position{starts[n], {Seq: starts[n].Seq}} {
		var again []string
		j.Read(from, func(e record.Entry) bool { again = append(again, e.Attempt.ID); return true })
		if strings.Join(again, "\n") != strings.Join(ids[n:], "\n") {
			t.Fatalf("from %v on %d records are read, want %d", from, len(again), len(ids)-n)
		}
	}
	return ids
}

func segmentName(n int) string { return "000000000000000" + string(rune('0'+n)) + ".seg" }

// A file of an earlier run that is cut short while it is read costs what stood there, and
// not the process.
func TestFileCutShortUnderTheReader(t *testing.T) {
	t.Parallel()
	files, spans := run(t, 60)
	o := small(t.TempDir())
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for i, b := range files {
		if err := os.WriteFile(filepath.Join(o.Dir, segmentName(i)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, o)
	size := os.Getpagesize()
	if err := os.Truncate(filepath.Join(o.Dir, segmentName(0)), int64(size)); err != nil {
		t.Fatal(err)
	}
	var want []*record.Attempt
	missing := uint64(0)
	for n, p := range spans {
		if p.file > 0 || p.to <= size {
			want = append(want, recordtest.Chat(n))
		} else {
			missing++
		}
	}
	got, end := read(j, record.Position{})
	same(t, "read", got, want)
	if st := j.Stats(); missing == 0 || st.Damaged != missing || !strings.Contains(log.String(), "damaged") {
		t.Errorf("%d are lost, %d counted; the log says %s", missing, st.Damaged, &log)
	}
	put(t, j, 60, 61)
	if got, _ := read(j, end); len(got) != 1 {
		t.Errorf("%d records behind, want the new one", len(got))
	}
	if err := j.Trim(end); err != nil {
		t.Error(err)
	}
}
