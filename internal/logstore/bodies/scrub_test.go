package bodies_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
)

// What is kept comes back after others were taken out of its file, again and again; what
// was taken out does not, whoever still refers to it. More can be added afterwards.
func TestScrub(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) logstore.Bodies{
		"files": func(t *testing.T) logstore.Bodies {
			return open(t, bodies.Options{Dir: t.TempDir(), BlockBytes: 1500})
		},
		"objects": func(t *testing.T) logstore.Bodies {
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
					ref  bodies.Ref
					set  bodies.Set
					kept bool
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
					kept := map[uint32][]bodies.Span{}
					for i := range rows {
						r := &rows[i]
						r.kept = r.kept && rapid.IntRange(0, 2).Draw(rt, "keep") > 0
						if kept[r.ref.File] == nil {
							kept[r.ref.File] = []bodies.Span{}
						}
						if r.kept && !r.ref.None() {
							kept[r.ref.File] = append(kept[r.ref.File], r.ref.Span())
						}
					}
					for file, spans := range kept {
						if file == 0 {
							continue
						}
						if err := s.Scrub(t.Context(), file, file >= mark.File, spans); err != nil {
							rt.Fatal(err)
						}
					}
					for _, r := range rows {
						got, err := s.Read(t.Context(), r.ref)
						if r.kept {
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
