package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
)

// segmentOf returns the file of a journal with ten chats that was not closed well,
// and the offsets of their frames.
func segmentOf(t *testing.T) (file []byte, frames []int) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, small(dir))
	put(t, j, 0, 10)
	file, err := os.ReadFile(filepath.Join(dir, "0000000000000000.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for offset := 64; binary.NativeEndian.Uint64(file[offset:]) != 0; {
		frames = append(frames, offset)
		offset += (24 + int(binary.NativeEndian.Uint32(file[offset:])) + 7) &^ 7
	}
	if len(frames) != 10 {
		t.Fatalf("%d frames in the file, want 10", len(frames))
	}
	return file, frames
}

// reopen puts a file where a journal finds it and returns what it reads, then what
// it reads behind one more record.
func reopen(t *testing.T, file []byte) (j opened, got []*record.Attempt) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "0000000000000000.seg"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	j = open(t, small(dir))
	put(t, j, 99, 100)
	got, _ = read(j, record.Position{})
	if len(got) == 0 || got[len(got)-1].ID != recordtest.Chat(99).ID {
		t.Fatalf("%d records, want the new one last", len(got))
	}
	return j, got[:len(got)-1]
}

func TestTornSegments(t *testing.T) {
	t.Parallel()
	content, frames := segmentOf(t)
	without := func(n int) []*record.Attempt { return append(chats(0, n), chats(n+1, 10)...) }
	tests := []struct {
		name    string
		tear    func(b []byte) []byte
		want    []*record.Attempt
		damaged uint64
	}{
		{"as the crash left it", func(b []byte) []byte { return b }, chats(0, 10), 0},
		{"cut in a payload", func(b []byte) []byte { return b[:frames[7]+100] }, chats(0, 7), 0},
		{"cut in a frame header", func(b []byte) []byte { return b[:frames[7]+8] }, chats(0, 7), 0},
		{"cut between frames", func(b []byte) []byte { return b[:frames[7]] }, chats(0, 7), 0},
		{"cut in the file header", func(b []byte) []byte { return b[:20] }, nil, 0},
		{"empty file", func(b []byte) []byte { return nil }, nil, 0},
		{"a frame begun and not finished", func(b []byte) []byte { clear(b[frames[4]+16 : frames[4]+24]); return b }, without(4), 0},
		{"a payload with a flipped bit", func(b []byte) []byte { b[frames[4]+30] ^= 4; return b }, without(4), 1},
		{"a page that was not written", func(b []byte) []byte { clear(b[frames[4]:frames[5]]); return b }, without(4), 1},
		{"the first page that was not written", func(b []byte) []byte { clear(b[frames[0] : frames[1]+8]); return b }, chats(2, 10), 2},
		{"noise over some", func(b []byte) []byte { fill(b[frames[3]+40 : frames[5]+9]); return b }, append(chats(0, 3), chats(6, 10)...), 3},
		{"two faults", func(b []byte) []byte { clear(b[frames[1]:frames[2]]); clear(b[frames[7]:frames[8]]); return b }, append(chats(0, 1), append(chats(2, 7), chats(8, 10)...)...), 2},
		{"the rest lost", func(b []byte) []byte { clear(b[frames[7]:]); return b }, chats(0, 7), 0},
		{"a length with a flipped bit", func(b []byte) []byte { b[frames[4]+1] ^= 4; return b }, without(4), 1},
		{"a number that does not follow", func(b []byte) []byte { copy(b[frames[4]:], b[frames[2]:frames[3]]); return b }, without(4), 1},
		{"a header that was not written", func(b []byte) []byte { clear(b[:64]); return b }, nil, 0},
		{"noise", func(b []byte) []byte { fill(b); return b }, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, got := reopen(t, tt.tear(append([]byte(nil), content...)))
			same(t, "read", got, tt.want)
			if st := j.Stats(); st.Damaged != tt.damaged {
				t.Errorf("%d damaged, want %d", st.Damaged, tt.damaged)
			}
		})
	}
}

// fill puts noise into b.
func fill(b []byte) {
	for i := range b {
		b[i] = byte(i*31 + 7)
	}
}

// Torn anywhere, a file has the lines before that place: none half, none of another.
func TestTornLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, small(dir))
	var want []*ledger.Entry
	for n := range 4 {
		spend(t, j, n, n+1)
		want = append(want, reserved(n), closed(n))
	}
	content, err := os.ReadFile(filepath.Join(dir, "0000000000000000.seg"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for offset := 64; seen < len(want); offset += 56 {
		cutDir := t.TempDir()
		if err := os.WriteFile(filepath.Join(cutDir, "0000000000000000.seg"), content[:offset], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := start(small(cutDir))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := readLines(j.Journal.Lines(), record.Position{})
		if len(got) < seen {
			t.Fatalf("%d lines of %d bytes, where fewer bytes have %d", len(got), offset, seen)
		}
		seen = len(got)
		sameLines(t, "read", got, want[:seen])
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Of a file that is damaged in the middle, with others behind it, what is lost is counted and
// said.
func TestGapIsTold(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	j := open(t, o)
	n := 0
	for ; j.Stats().Segments < 4; n++ {
		put(t, j, n, n+1)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, "*.seg"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	clear(b[len(b)/2 : len(b)/2+4096]) // the rest of an entry, and what stands behind it
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	j = open(t, o)
	got, _ := read(j, record.Position{})
	dropped := uint64(n - len(got))
	if dropped == 0 || j.Stats().Damaged != dropped || got[len(got)-1].ID != recordtest.Chat(n-1).ID {
		t.Errorf("%d of %d are there, %d are counted as damaged", len(got), n, j.Stats().Damaged)
	}
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, fmt.Sprintf("entries_lost=%d", dropped-1)) || !strings.Contains(text, "skipping corrupt journal entry") || !strings.Contains(text, files[0]) {
		t.Errorf("%d are lost, and the log says %s", dropped, text)
	}
}

// Numbers jump from one run to the next: nothing is lost where they do.
func TestGapBetweenRunsIsNone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o, clock := small(t.TempDir()), &fakeClock{now: recordtest.Epoch}
	o.Clock, o.Logger = clock, slog.New(slog.NewTextHandler(&log, nil))
	for run := range 4 {
		j, err := start(o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, j, run, run+1)
		got, _ := read(j, record.Position{})
		same(t, "read", got, chats(0, run+1))
		if st := j.Stats(); st.Damaged != 0 || log.Len() > 0 {
			t.Errorf("run %d: %d are counted as damaged, and the log says %s", run, st.Damaged, &log)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		clock.now = clock.now.Add(time.Hour)
	}
}

// A file that is no segment is kept for whoever wants to look at it.
func TestUnreadableSegmentIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "0000000000000007.seg")
	for _, offset := range []int{0, 4095} {
		noise := make([]byte, 4096)
		noise[offset] = 'x'
		if err := os.WriteFile(path, noise, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := start(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path + ".damaged"); err != nil || !bytes.Equal(b, noise) {
			t.Errorf("%d bytes set aside, %v; want all", len(b), err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that the process was killed over while it made it has nothing in it, and goes without
// a word.
func TestUnfinishedSegmentIsRemoved(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 7, 4096, 32 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			o, log := small(t.TempDir()), bytes.Buffer{}
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			if err := os.WriteFile(filepath.Join(o.Dir, "0000000000000007.seg"), make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
			put(t, open(t, o), 0, 1)
			left, err := filepath.Glob(filepath.Join(o.Dir, "*0007.seg*"))
			if err != nil || len(left) > 0 || log.Len() > 0 {
				t.Errorf("%v are left, %v; the log says %q", left, err, &log)
			}
		})
	}
}

// Whatever stands in a file, opening and reading it ends, and ends alike twice.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	j, err := start(small(dir))
	if err != nil {
		f.Fatal(err)
	}
	put(f, j, 0, 2)
	file, err := os.ReadFile(filepath.Join(dir, "0000000000000000.seg"))
	if err != nil {
		f.Fatal(err)
	}
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file[:6000], uint16(0), byte(0))
	f.Add(file[:6000], uint16(64), byte(1))
	f.Add(file[:100], uint16(70), byte(7))
	f.Fuzz(func(t *testing.T, b []byte, offset uint16, flip byte) {
		if int(offset) < len(b) {
			b[offset] ^= flip
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0000000000000000.seg"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		j := open(t, small(dir))
		once, end := read(j, record.Position{})
		twice, _ := read(j, record.Position{})
		same(t, "read again", twice, once)
		if rest, _ := read(j, end); len(rest) != 0 {
			t.Errorf("%d records behind the end", len(rest))
		}
	})
}

// What was consumed need not be on the disk: after a power failure the records behind
// it are found all the same.
func TestSyncSparesWhatIsConsumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := small(dir)
	o.SegmentBytes = 64 << 10 // all in one file
	j := open(t, o)
	put(t, j, 0, 8)
	pos := j.Read(record.Position{}, stopAfter(6))
	if err := errors.Join(j.Trim(pos), j.Sync()); err != nil {
		t.Fatal(err)
	}
	put(t, j, 8, 10)
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "0000000000000000.seg"))
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	dropped := int(pos.Offset) / page * page
	if dropped <= page {
		t.Fatalf("the first record that counts is at %d: nothing can be lost before it", pos.Offset)
	}
	clear(file[page:dropped])
	again, got := reopen(t, file)
	same(t, "read", got, chats(6, 10))
	if st := again.Stats(); st.Damaged != 0 {
		t.Errorf("%d damaged, want none", st.Damaged)
	}
	got, _ = read(again, record.Position{Seq: pos.Seq + 2})
	same(t, "read from the middle", got, append(chats(8, 10), recordtest.Chat(99)))
}
