package bodies_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/s2"
	"pgregory.net/rapid"

	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// What a scrub that was cut off had begun is gone at the next start: it holds bodies that may be
// due by now, and no later scrub need come to that file.
func TestScrubThatWasCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := filepath.Join(dir, "00000001.bodies.new")
	if err := os.WriteFile(begun, []byte("what somebody said"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, bodies.Options{Dir: dir})
	if _, err := os.Stat(begun); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
}

// What is kept comes back after others were taken out of its file, again and again; what
// was taken out does not, whoever still refers to it. More can be added afterwards.
func TestScrub(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) requestlog.BodyStore{
		"files": func(t *testing.T) requestlog.BodyStore {
			return open(t, bodies.Options{Dir: t.TempDir(), BlockBytes: 1500})
		},
		"objects": func(t *testing.T) requestlog.BodyStore {
			return newObjects(t, bodies.ObjectOptions{Bucket: newBucket(), BlockBytes: 1500, ObjectBytes: 1 << 20})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				s := open(t)
				if err := s.Resume(t.Context(), bodies.Mark{}); err != nil {
					rt.Fatal(err)
				}
				type row struct {
					ref      bodies.Ref
					set      bodies.Set
					retained bool
				}
				var rows []row
				add := func(n int) {
					a, set := drawn(rt, n)
					ref, err := s.Add(t.Context(), a)
					if err != nil {
						rt.Fatal(err)
					}
					if _, err := s.Flush(t.Context()); rapid.Bool().Draw(rt, "flush") && err != nil {
						rt.Fatal(err)
					}
					rows = append(rows, row{ref, set, true})
				}
				for n := range rapid.IntRange(1, 15).Draw(rt, "records") {
					add(n)
				}
				mark, err := s.Flush(t.Context())
				if err != nil {
					rt.Fatal(err)
				}
				for range 2 {
					stored := map[uint32][]bodies.Span{}
					for i := range rows {
						r := &rows[i]
						r.retained = r.retained && rapid.IntRange(0, 2).Draw(rt, "keep") > 0
						if stored[r.ref.File] == nil {
							stored[r.ref.File] = []bodies.Span{}
						}
						if r.retained && !r.ref.None() {
							stored[r.ref.File] = append(stored[r.ref.File], r.ref.Span())
						}
					}
					for file, spans := range stored {
						if file == 0 {
							continue
						}
						if err := s.Scrub(t.Context(), file, file >= mark.File, spans); err != nil {
							rt.Fatal(err)
						}
					}
					for _, r := range rows {
						got, err := s.Read(t.Context(), r.ref)
						if r.retained {
							if diff := cmp.Diff(r.set, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
								rt.Fatalf("kept at %+v, %v (-want +got):\n%s", r.ref, err, diff)
							}
							continue
						}
						for part := range got {
							if len(bytes.Trim(got[part], "\x00")) > 0 {
								rt.Fatalf("at %+v %q is still there", r.ref, got[part])
							}
						}
					}
				}
				add(99)
				if _, err := s.Flush(t.Context()); err != nil {
					rt.Fatal(err)
				}
				last := rows[len(rows)-1]
				got, err := s.Read(t.Context(), last.ref)
				if diff := cmp.Diff(last.set, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
					rt.Fatalf("added at %+v, %v (-want +got):\n%s", last.ref, err, diff)
				}
			})
		})
	}
}

// A damaged block stays as it is, and what is behind it is cleaned all the same.
func TestScrubOfADamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, bodies.Options{Dir: dir, BlockBytes: 1})
	first, due, last := add(t, f, "first", "answer"), add(t, f, "due", "answer"), add(t, f, "last", "answer")
	mark := flush(t, f)
	path := filepath.Join(dir, "00000001.bodies")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[20] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Scrub(t.Context(), 1, true, []bodies.Span{first.Span(), last.Span()}); !errors.Is(err, bodies.ErrPartial) {
		t.Errorf("got %v, want that a part is as it was", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || int64(len(after)) != mark.Size || !bytes.Equal(after[:due.Block], b[:due.Block]) || bytes.Contains(after, []byte("due")) {
		t.Errorf("%d bytes, %v: the damaged block has changed, or what is due is there", len(after), err)
	}
	check(t, f, last, "last", "answer")
}

// Blocks of before bodies had a rest are read and cleaned.
func TestBlocksWithoutARest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := "SLB1\x09\x00\x00\x00\x0b\x00\x00\x00" // header of "abc" and "defghi"
	encoded := s2.Encode(nil, []byte("abcdefghi"))
	if len(encoded) != 11 {
		t.Fatalf("%d bytes", len(encoded))
	}
	checksum := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(encoded, crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(filepath.Join(dir, "00000001.bodies"), append(append([]byte(old), checksum...), encoded...), 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, bodies.Options{Dir: dir})
	one, two := bodies.Ref{File: 1, Request: 1, Response: 2}, bodies.Ref{File: 1, Offset: 3, Request: 2, Response: 4}
	check(t, f, one, "a", "bc")
	check(t, f, two, "de", "fghi")
	if err := f.Scrub(t.Context(), 1, false, []bodies.Span{two.Span()}); err != nil {
		t.Fatal(err)
	}
	check(t, f, one, "\x00", "\x00\x00")
	check(t, f, two, "de", "fghi")
}
