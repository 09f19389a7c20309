package bodies_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

var (
	_ requestlog.BodyStore = (*bodies.Files)(nil)
	_ requestlog.BodyStore = (*bodies.Objects)(nil)
)

func newObjects(t testing.TB, o bodies.ObjectOptions) *bodies.Objects {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Node == "" {
		o.Node = "here"
	}
	s := bodies.NewObjects(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// drawn is a record with random bodies.
func drawn(rt *rapid.T, n int) (*record.Attempt, bodies.Set) {
	var set bodies.Set
	body := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 900), rapid.SampledFrom([][]byte{
		[]byte(`{"a":1,"b":["<x>",1e3]}`), []byte(` {"a": 1}`), []byte("plain"), []byte(`"text"`), []byte("null"), []byte("{\"u\":\"\u2028\\u003c\"}"),
	}))
	for part := range rapid.IntRange(0, bodies.Parts).Draw(rt, "parts") {
		if set[part] = body.Draw(rt, "body"); part >= bodies.RequestHead {
			set[part] = []byte(strings.ToValidUTF8(string(set[part]), "?"))
		}
	}
	a := recordtest.Chat(n)
	set.CopyTo(a)
	return a, set
}

// Bodies of every format come back byte for byte, to any node, over flushes, failures and
// restarts, and no object is written twice.
func TestObjectsComeBack(t *testing.T) {
	t.Parallel()
	errUnavailable := errors.New("away")
	for _, format := range []bodies.Format{bodies.Blocks, bodies.V1, bodies.V2} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				store := newBucket()
				o := bodies.ObjectOptions{Bucket: store, Format: format, BlockBytes: 600, ObjectBytes: 900, Dir: t.TempDir()}
				s := newObjects(t, o)
				if err := s.Resume(t.Context(), bodies.Mark{}); err != nil {
					rt.Fatal(err)
				}
				type storedSet struct {
					ref bodies.Ref
					set bodies.Set
				}
				var all, batch []storedSet
				var mark bodies.Mark
				for n := range rapid.IntRange(1, 25).Draw(rt, "records") {
					a, set := drawn(rt, n)
					ref, err := s.Add(t.Context(), a)
					if err != nil {
						rt.Fatal(err)
					}
					batch = append(batch, storedSet{ref, set})
					what := rapid.SampledFrom([]string{"go on", "go on", "flush", "fail", "restart"}).Draw(rt, "then")
					if what == "go on" {
						continue
					}
					if what == "fail" {
						store.fail = func(string) error { return errUnavailable }
					}
					m, err := s.Flush(t.Context())
					if store.fail = nil; err == nil && what != "fail" {
						mark, all, batch = m, append(all, batch...), nil
						if what == "flush" {
							continue
						}
					}
					batch = nil // is done again, with other records
					if what == "restart" {
						s = newObjects(t, o)
					}
					if err := s.Resume(t.Context(), mark); err != nil {
						rt.Fatal(err)
					}
				}
				if _, err := s.Flush(t.Context()); err != nil {
					rt.Fatal(err)
				}
				all = append(all, batch...)
				other := newObjects(t, bodies.ObjectOptions{Bucket: store, Node: "another"})
				for _, k := range all {
					for _, node := range []*bodies.Objects{s, other} {
						got, err := node.Read(t.Context(), k.ref)
						if diff := cmp.Diff(k.set, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
							rt.Fatalf("at %+v, %v (-want +got):\n%s", k.ref, err, diff)
						}
					}
				}
				for key, n := range store.puts {
					if format == bodies.Blocks && n > 1 {
						rt.Fatalf("%s was written %d times", key, n)
					}
				}
			})
		})
	}
}

func TestKeysOfObjects(t *testing.T) {
	t.Parallel()
	a := recordtest.Chat(1)
	a.OrgID, a.WorkspaceID, a.ID = "o1", "w1", "../log 1"
	a.Started = time.Date(2026, 3, 4, 5, 59, 0, 0, time.FixedZone("", 3600))
	slug := func(string) string { return "ws-search" }
	for name, c := range map[string]struct {
		o    bodies.ObjectOptions
		want string
	}{
		"blocks":           {bodies.ObjectOptions{}, "bodies/here/0000000001.bodies"},
		"v1":               {bodies.ObjectOptions{Format: bodies.V1}, "30/o1/.._log_1.json"},
		"v2":               {bodies.ObjectOptions{Format: bodies.V2, Slug: slug}, "30/o1/ws-search/2026/03/04/04/.._log_1.json"},
		"v2 without names": {bodies.ObjectOptions{Format: bodies.V2}, "30/o1/w1/2026/03/04/04/.._log_1.json"},
	} {
		store := newBucket()
		c.o.Bucket = store
		s := newObjects(t, c.o)
		if err := s.Resume(t.Context(), bodies.Mark{}); err != nil {
			t.Fatal(err)
		}
		ref, err := s.Add(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{c.want}, store.keys()); diff != "" || ref.Key != "" && ref.Key != c.want {
			t.Errorf("%s: keys (-want +got), reference %+v:\n%s", name, ref, diff)
		}
		if strings.HasSuffix(c.want, ".json") && !json.Valid(store.objects[c.want]) {
			t.Errorf("%s: the object is no JSON", name)
		}
	}
}

// Rows of a page lie together: their block is read once.
func TestABlockIsReadOnce(t *testing.T) {
	t.Parallel()
	store := newBucket()
	s := newObjects(t, bodies.ObjectOptions{Bucket: store})
	if err := s.Resume(t.Context(), bodies.Mark{}); err != nil {
		t.Fatal(err)
	}
	var refs []bodies.Ref
	for n := range 10 {
		ref, err := s.Add(t.Context(), recordtest.Chat(n))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if _, err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if _, err := s.Read(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if store.gets != 1 {
		t.Errorf("%d requests, want one", store.gets)
	}
}

// A deployment that changes between files and objects reads what it kept before.
func TestFilesAndObjectsTakeTurns(t *testing.T) {
	t.Parallel()
	store, dir := newBucket(), t.TempDir()
	var mark bodies.Mark
	var refs []bodies.Ref
	var last requestlog.BodyStore
	for turn := range 4 {
		files := open(t, bodies.Options{Dir: dir, Node: "here"})
		last = files
		if turn%2 == 1 {
			last = newObjects(t, bodies.ObjectOptions{Bucket: store, Local: files})
		}
		if err := last.Resume(t.Context(), mark); err != nil {
			t.Fatal(err)
		}
		ref, err := last.Add(t.Context(), recordtest.Chat(turn))
		if err != nil {
			t.Fatal(err)
		}
		if mark, err = last.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for turn, ref := range refs {
		got, err := last.Read(t.Context(), ref)
		if diff := cmp.Diff(bodies.FromAttempt(recordtest.Chat(turn)), got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("turn %d, %v (-want +got):\n%s", turn, err, diff)
		}
	}
}

func TestTrimOfObjects(t *testing.T) {
	t.Parallel()
	store := newBucket()
	store.now = recordtest.Epoch
	old := recordtest.Epoch.Add(time.Hour)
	var refs []bodies.Ref
	for _, node := range []string{"gone", "here", "young"} {
		if node == "young" {
			store.now = old
		}
		s := newObjects(t, bodies.ObjectOptions{Bucket: store, Node: node})
		if err := s.Resume(t.Context(), bodies.Mark{}); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			ref, err := s.Add(t.Context(), recordtest.Chat(n))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if node == "here" {
				refs = append(refs, ref)
			}
		}
	}
	s := newObjects(t, bodies.ObjectOptions{Bucket: store})
	n, err := s.Trim(t.Context(), refs[1].File, old)
	if err != nil || n != 4 {
		t.Errorf("%d deleted, %v; want the first of ours, and the three of who is gone", n, err)
	}
	if _, err := s.Read(t.Context(), refs[0]); !errors.Is(err, bodies.ErrGone) {
		t.Errorf("got %v, want that it is gone", err)
	}
	if _, err := s.Read(t.Context(), refs[1]); err != nil {
		t.Error(err)
	}
	if left := store.keys(); len(left) != 5 {
		t.Errorf("left %v", left)
	}
}
