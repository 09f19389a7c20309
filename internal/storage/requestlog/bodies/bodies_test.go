package bodies_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog/bodies"
)

type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

func open(t testing.TB, o bodies.Options) *bodies.Files {
	t.Helper()
	f, err := bodies.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// attempt has two bodies.
func attempt(request, response []byte) *record.Attempt {
	return &record.Attempt{Request: record.Body{Bytes: request}, Response: record.Body{Bytes: response}}
}

func add(t testing.TB, f *bodies.Files, request, response string) bodies.Ref {
	t.Helper()
	ref, err := f.Add(t.Context(), attempt([]byte(request), []byte(response)))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func flush(t testing.TB, f *bodies.Files) bodies.Mark {
	t.Helper()
	m, err := f.Flush(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t testing.TB, f *bodies.Files, ref bodies.Ref, request, response string) {
	t.Helper()
	s, err := f.Read(t.Context(), ref)
	if err != nil || string(s[bodies.Request]) != request || string(s[bodies.Response]) != response {
		t.Errorf("at %+v: %.40q, %v; want %.40q %.40q", ref, s, err, request, response)
	}
}

// Bodies of any bytes and lengths come back as they were, over blocks, files,
// flushes and restarts.
func TestBodiesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		o := bodies.Options{Dir: t.TempDir(), BlockBytes: 600, FileBytes: 2000}
		f := open(t, o)
		type storedSet struct {
			ref bodies.Ref
			set bodies.Set
		}
		var all []storedSet
		body := rapid.SliceOfN(rapid.Byte(), 0, 900)
		for range rapid.IntRange(1, 20).Draw(rt, "records") {
			var k storedSet
			for part := range rapid.IntRange(0, bodies.Parts).Draw(rt, "parts") {
				k.set[part] = body.Draw(rt, "body")
			}
			var a record.Attempt
			k.set.CopyTo(&a)
			var err error
			if k.ref, err = f.Add(t.Context(), &a); err != nil {
				rt.Fatal(err)
			}
			all = append(all, k)
			if rapid.IntRange(0, 4).Draw(rt, "restart") == 0 {
				mark := flush(t, f)
				f = open(t, o)
				if err := f.Resume(t.Context(), mark); err != nil {
					rt.Fatal(err)
				}
			}
		}
		flush(t, f)
		for _, k := range all {
			s, err := f.Read(t.Context(), k.ref)
			if diff := cmp.Diff(k.set, s, cmpopts.EquateEmpty()); diff != "" || err != nil {
				rt.Fatalf("at %+v, %v (-want +got):\n%s", k.ref, err, diff)
			}
		}
	})
}

func TestNoBodiesTakeNoRoom(t *testing.T) {
	t.Parallel()
	f := open(t, bodies.Options{Dir: t.TempDir()})
	if ref := add(t, f, "", ""); ref != (bodies.Ref{}) {
		t.Errorf("got %+v, want no place", ref)
	}
	if m := flush(t, f); m != (bodies.Mark{}) {
		t.Errorf("mark %+v, want the beginning", m)
	}
	check(t, f, bodies.Ref{}, "", "")
}

// What was added behind a mark is gone after Resume, and what is added then takes
// its place.
func TestResumeForgetsWhatIsBehindTheMark(t *testing.T) {
	t.Parallel()
	o := bodies.Options{Dir: t.TempDir(), FileBytes: 1}
	f := open(t, o)
	first := add(t, f, "first", "answer")
	mark := flush(t, f)
	add(t, f, "second", "lost")
	flush(t, f)
	add(t, f, "third", "lost too")
	if err := f.Resume(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
	again := add(t, f, "again", "kept")
	flush(t, f)
	check(t, f, first, "first", "answer")
	check(t, f, again, "again", "kept")
	if files, _ := filepath.Glob(filepath.Join(o.Dir, "*")); len(files) != 2 {
		t.Errorf("%d files, want the two that are in use", len(files))
	}
}

// Bodies that a power failure or somebody took are missing; the rest goes on.
func TestResumeWithoutTheFile(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"gone":    os.Remove,
		"shorter": func(path string) error { return os.Truncate(path, 5) },
	} {
		o := bodies.Options{Dir: t.TempDir()}
		f := open(t, o)
		missing := add(t, f, "lost", "answer")
		mark := flush(t, f)
		if err := harm(filepath.Join(o.Dir, "00000001.bodies")); err != nil {
			t.Fatal(err)
		}
		if err := f.Resume(t.Context(), mark); err != nil {
			t.Fatal(err)
		}
		fresh := add(t, f, "fresh", "answer")
		flush(t, f)
		check(t, f, fresh, "fresh", "answer")
		if fresh.File == missing.File {
			t.Errorf("%s: the number of the lost file was used again", name)
		}
		if _, err := f.Read(t.Context(), missing); err == nil {
			t.Errorf("%s: bodies were read that are lost", name)
		}
	}
}

func TestTrimDeletesWholeFiles(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{now: recordtest.Epoch}
	f := open(t, bodies.Options{Dir: t.TempDir(), Clock: clock})
	var refs []bodies.Ref
	for day := range 4 {
		refs = append(refs, add(t, f, "request", "answer"))
		flush(t, f)
		if refs[day].File != uint32(day+1) {
			t.Errorf("day %d is in file %d, want one file for each day", day, refs[day].File)
		}
		clock.now = clock.now.Add(24 * time.Hour)
	}
	if n, err := f.Trim(t.Context(), 3, time.Time{}); n != 2 || err != nil {
		t.Errorf("%d files deleted, %v; want 2", n, err)
	}
	if n, err := f.Trim(t.Context(), 100, time.Time{}); n != 1 || err != nil {
		t.Errorf("%d files deleted, %v; want one, not that being written", n, err)
	}
	if _, err := f.Read(t.Context(), refs[0]); !errors.Is(err, bodies.ErrGone) {
		t.Errorf("got %v, want that it is gone", err)
	}
	check(t, f, refs[3], "request", "answer")
}

// A damaged block is an error, never other bytes and never a panic.
func FuzzReadBlock(f *testing.F) {
	o := bodies.Options{Dir: f.TempDir()}
	files := open(f, o)
	ref := add(f, files, string(recordtest.Chat(1).Request.Bytes), string(recordtest.Chat(1).Response.Bytes))
	flush(f, files)
	fileBytes, err := os.ReadFile(filepath.Join(o.Dir, "00000001.bodies"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fileBytes, int64(0), uint32(0))
	f.Add(fileBytes[:40], int64(0), uint32(0))
	f.Add(fileBytes, int64(8), uint32(1<<31))
	f.Fuzz(func(t *testing.T, b []byte, block int64, offset uint32) {
		o := bodies.Options{Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(o.Dir, "00000001.bodies"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := open(t, o).Read(t.Context(), bodies.Ref{File: 1, Block: block, Offset: offset, Request: ref.Request, Response: ref.Response})
		request := s[bodies.Request]
		if bytes.Equal(b, fileBytes) && block == 0 && offset == 0 {
			if err != nil || !bytes.Equal(request, recordtest.Chat(1).Request.Bytes) {
				t.Errorf("the whole file: %q, %v", request, err)
			}
		} else if err == nil && uint32(len(request)) != ref.Request {
			t.Errorf("%d bytes, want %d", len(request), ref.Request)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	f := open(b, bodies.Options{Dir: b.TempDir()})
	chats := make([]*record.Attempt, 1024)
	for i := range chats {
		chats[i] = recordtest.Chat(i)
	}
	b.SetBytes(int64(len(chats[0].Request.Bytes) + len(chats[0].Response.Bytes)))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		a := chats[n%len(chats)]
		if _, err := f.Add(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}
