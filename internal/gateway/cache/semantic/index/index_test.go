package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/vectorstoretest"
)

func TestIndex_IsAVectorStore(t *testing.T) {
	t.Parallel()
	vectorstoretest.Run(t, func(_ *testing.T, clock *vectorstoretest.Clock) vectorstore.Store {
		return index.New(clock, index.Options{})
	})
}

func clock() *vectorstoretest.Clock { return &vectorstoretest.Clock{Time: vectorstoretest.Start} }

// key returns a key from a number.
func key(n int) (k vectorstore.Key) {
	k[0], k[1], k[2] = byte(n), byte(n>>8), byte(n>>16)
	return k
}

func put(t testing.TB, x *index.Index, n int, vector []float32, lifetime time.Duration) {
	t.Helper()
	err := x.Put(t.Context(), vectorstore.Entry{Key: key(n), Vector: vector, Expires: vectorstoretest.Start.Add(lifetime)})
	if err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, x *index.Index, vector []float32, threshold float32) []vectorstore.Match {
	t.Helper()
	found, err := x.Search(t.Context(), vectorstore.Search{Vector: vector, Threshold: threshold, Limit: 16})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestIndex_EvictsWhatIsNotFound(t *testing.T) {
	t.Parallel()
	x := index.New(clock(), index.Options{MaxEntries: 3})
	for n, v := range [][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}} {
		put(t, x, n, v, time.Hour)
	}
	find(t, x, []float32{1, 0, 0, 0}, 0.9)
	put(t, x, 3, []float32{0, 0, 0, 1}, time.Hour)
	if len(find(t, x, []float32{1, 0, 0, 0}, 0.9)) != 1 {
		t.Error("the entry that was found is evicted")
	}
	if len(find(t, x, []float32{0, 1, 0, 0}, 0.9)) != 0 {
		t.Error("the oldest entry that was not found remains")
	}
	if s := x.Stats(); s.Entries != 3 || s.Evicted != 1 {
		t.Errorf("got %+v, want 3 entries and 1 eviction", s)
	}
}

func TestIndex_EvictsExpiredEntriesThatWereFound(t *testing.T) {
	t.Parallel()
	c := clock()
	x := index.New(c, index.Options{MaxEntries: 2})
	put(t, x, 0, []float32{1, 0}, time.Minute)
	put(t, x, 1, []float32{0, 1}, time.Hour)
	find(t, x, []float32{1, 0}, 0.9)
	c.Time = c.Time.Add(2 * time.Minute)
	put(t, x, 2, []float32{1, 1}, time.Hour)
	if len(find(t, x, []float32{0, 1}, 0.9)) != 1 {
		t.Error("an entry was evicted before an expired one")
	}
}

func TestIndex_StaysWithinItsBytes(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	x := index.New(clock(), index.Options{MaxBytes: limit})
	for n := range 1000 {
		put(t, x, n, []float32{1, float32(n)}, time.Hour)
	}
	s := x.Stats()
	if s.Bytes > limit || s.Bytes < limit/2 || s.Entries < 100 {
		t.Errorf("got %+v with a limit of %d bytes", s, limit)
	}
}

func TestIndex_IsEmptyAfterAllKeysAreDeleted(t *testing.T) {
	t.Parallel()
	x := index.New(clock(), index.Options{})
	for n := range 500 {
		put(t, x, n, []float32{1, float32(n)}, time.Hour)
	}
	for n := range 500 {
		if err := x.Delete(t.Context(), key(n)); err != nil {
			t.Fatal(err)
		}
	}
	if s := x.Stats(); s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("got %+v, want nothing", s)
	}
}

// TestSearch_FindsWhatAllComparisonsFind compares with a search without shortcuts.
func TestSearch_FindsWhatAllComparisonsFind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		dimensions := rapid.IntRange(1, 400).Draw(t, "dimensions")
		threshold := float32(rapid.Float64Range(0, 1).Draw(t, "threshold"))
		x := index.New(clock(), index.Options{})
		query := vector(random, dimensions, nil)
		var all []float64
		for n := range 12 {
			v := vector(random, dimensions, query)
			if err := x.Put(t.Context(), vectorstore.Entry{Key: key(n), Vector: v, Expires: vectorstoretest.Start.Add(1)}); err != nil {
				t.Fatal(err)
			}
			all = append(all, cosine(query, v))
		}
		found, _ := x.Search(t.Context(), vectorstore.Search{Vector: query, Threshold: threshold, Limit: 16})
		for _, m := range found {
			if want := all[m.Key[0]]; math.Abs(want-float64(m.Cosine)) > 1e-4 {
				t.Fatalf("cosine of entry %d is %f, want %f", m.Key[0], m.Cosine, want)
			}
		}
		for n, c := range all {
			has := slices.ContainsFunc(found, func(m vectorstore.Match) bool { return m.Key == key(n) })
			if math.Abs(c-float64(threshold)) > 1e-4 && has != (c >= float64(threshold)) {
				t.Fatalf("entry %d with cosine %f is found: %v, with threshold %f", n, c, has, threshold)
			}
		}
	})
}

// vector returns a random vector, mixed with another one to be similar to it.
func vector(random *rand.Rand, dimensions int, similar []float32) []float32 {
	v := make([]float32, dimensions)
	weight := random.Float32() * 3
	for i := range v {
		v[i] = float32(random.NormFloat64())
		if similar != nil {
			v[i] += weight * similar[i]
		}
	}
	return v
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestIndex_IsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	x := index.New(clock(), index.Options{MaxEntries: 50})
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 2))
			for range 500 {
				n := random.IntN(100)
				put(t, x, n, vector(random, 4, nil), time.Hour)
				find(t, x, vector(random, 4, nil), 0.5)
				if err := x.Delete(t.Context(), key(random.IntN(100))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if s := x.Stats(); s.Entries > 50 {
		t.Errorf("got %+v, want at most 50 entries", s)
	}
}

// BenchmarkSearch searches 10,000 entries of one partition. Real embeddings have a cosine of 0.1 to
// 0.3 to unrelated texts, so do these.
func BenchmarkSearch(b *testing.B) {
	for _, dimensions := range []int{128, 1536, 3072} {
		b.Run(fmt.Sprint(dimensions), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			x := index.New(clock(), index.Options{MaxBytes: 1 << 30})
			query := vector(random, dimensions, nil)
			common := make([]float32, dimensions)
			for i := range common {
				common[i] = query[i] * 0.15
			}
			for n := range 10_000 {
				v := vector(random, dimensions, nil)
				for i := range v {
					v[i] += common[i]
				}
				put(b, x, n, v, time.Hour)
			}
			b.ReportAllocs()
			for b.Loop() {
				find(b, x, query, 0.85)
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	x := index.New(clock(), index.Options{MaxEntries: 10_000})
	v := []float32{1, 2, 3}
	n := 0
	for b.Loop() {
		put(b, x, n%(1<<24), v, time.Hour)
		n++
	}
}
