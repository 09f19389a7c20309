// Package vectorstoretest is the suite that every vector store passes. Begin at Run.
package vectorstoretest

import (
	"testing"
	"time"

	"sluice/internal/gateway/cache/semantic/vectorstore"
)

// Clock is a clock that a test sets.
type Clock struct{ Time time.Time }

// Now returns the time that was set.
func (c *Clock) Now() time.Time { return c.Time }

// Start is the time at which each test of the suite begins.
var Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Partition returns a partition that differs from others by a byte.
func Partition(n byte) vectorstore.Partition { return vectorstore.Partition{31: n} }

// Key returns a key that differs from others by a byte.
func Key(n byte) vectorstore.Key { return vectorstore.Key{31: n} }

// Vector returns a vector of eight dimensions with a cosine of about similarity to Vector(1).
func Vector(similarity float32) []float32 {
	rest := 1 - similarity*similarity
	return []float32{similarity, sqrt(rest), 0, 0, 0, 0, 0, 0}
}

func sqrt(x float32) float32 {
	guess := x/2 + 0.5
	for range 30 {
		guess = (guess + x/guess) / 2
	}
	return guess
}

// Run tests a store that open creates, with vectors of eight dimensions.
func Run(t *testing.T, open func(t *testing.T, clock *Clock) vectorstore.Store) {
	for name, test := range map[string]func(*testing.T, vectorstore.Store, *Clock){
		"finds the most similar first":        testRanking,
		"partitions never meet":               testPartitions,
		"expired entries are not found":       testExpiry,
		"a key is stored once":                testReplace,
		"deleted entries are not found":       testDelete,
		"a purge removes everything":          testPurge,
		"entries outside the limits fail":     testLimits,
		"an empty store finds nothing":        testEmpty,
		"the limit of matches is respected":   testLimit,
		"texts of all characters come back":   testTexts,
		"a purged store stores new entries":   testPutAfterPurge,
		"deleting nothing is not a mistake":   testDeleteNothing,
		"missing keys are deleted in silence": testDeleteMissing,
	} {
		t.Run(name, func(t *testing.T) {
			clock := &Clock{Time: Start}
			test(t, open(t, clock), clock)
		})
	}
}

func put(t *testing.T, s vectorstore.Store, key byte, partition byte, similarity float32, text string) {
	t.Helper()
	err := s.Put(t.Context(), vectorstore.Entry{
		Key: Key(key), Partition: Partition(partition), Vector: Vector(similarity), Text: text, Expires: Start.Add(time.Hour),
	})
	if err != nil {
		t.Fatalf("put entry %d: %v", key, err)
	}
}

// search returns the last bytes of the keys that are found with a threshold of 0.5.
func search(t *testing.T, s vectorstore.Store, partition byte, limit int) (keys []byte) {
	t.Helper()
	for _, m := range matches(t, s, partition, 0.5, limit) {
		keys = append(keys, m.Key[31])
	}
	return keys
}

func matches(t *testing.T, s vectorstore.Store, partition byte, threshold float32, limit int) []vectorstore.Match {
	t.Helper()
	found, err := s.Search(t.Context(), vectorstore.Search{
		Partition: Partition(partition), Vector: Vector(1), Threshold: threshold, Limit: limit,
	})
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	return found
}

func expect(t *testing.T, got []byte, want ...byte) {
	t.Helper()
	if string(got) != string(want) {
		t.Errorf("found entries %v, want %v", got, want)
	}
}

func testRanking(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 0.90, "a")
	put(t, s, 2, 1, 0.99, "b")
	put(t, s, 3, 1, 0.50, "c")
	put(t, s, 4, 1, 0.95, "d")
	found := matches(t, s, 1, 0.85, 8)
	if len(found) != 3 || found[0].Key != Key(2) || found[1].Key != Key(4) || found[2].Key != Key(1) {
		t.Fatalf("found %+v, want the entries 2, 4 and 1", found)
	}
	if c := found[0].Cosine; c < 0.989 || c > 0.991 || found[0].Text != "b" {
		t.Errorf("found %+v, want text b with a cosine of 0.99", found[0])
	}
}

func testPartitions(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 1, "a")
	put(t, s, 2, 2, 1, "a")
	expect(t, search(t, s, 1, 8), 1)
	expect(t, search(t, s, 2, 8), 2)
	expect(t, search(t, s, 3, 8))
}

func testExpiry(t *testing.T, s vectorstore.Store, clock *Clock) {
	put(t, s, 1, 1, 1, "a")
	clock.Time = Start.Add(time.Hour - time.Second)
	expect(t, search(t, s, 1, 8), 1)
	clock.Time = Start.Add(time.Hour)
	expect(t, search(t, s, 1, 8))
}

func testReplace(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 1, "a")
	put(t, s, 1, 2, 0.9, "b")
	expect(t, search(t, s, 1, 8))
	found := matches(t, s, 2, 0.5, 8)
	if len(found) != 1 || found[0].Text != "b" {
		t.Errorf("found %+v, want the text b", found)
	}
}

func testDelete(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 1, "a")
	put(t, s, 2, 1, 0.9, "b")
	put(t, s, 3, 1, 0.8, "c")
	if err := s.Delete(t.Context(), Key(1), Key(3)); err != nil {
		t.Fatal(err)
	}
	expect(t, search(t, s, 1, 8), 2)
}

func testPurge(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 1, "a")
	put(t, s, 2, 2, 1, "b")
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, search(t, s, 1, 8))
	expect(t, search(t, s, 2, 8))
}

func testLimits(t *testing.T, s vectorstore.Store, _ *Clock) {
	for name, e := range map[string]vectorstore.Entry{
		"no vector":       {Text: "a"},
		"a zero vector":   {Vector: make([]float32, 8)},
		"a large vector":  {Vector: append(make([]float32, vectorstore.MaxDimensions), 1)},
		"infinite vector": {Vector: []float32{1e38, 1e38, 1e38, 0, 0, 0, 0, inf()}},
		"a long text":     {Vector: Vector(1), Text: string(make([]byte, vectorstore.MaxText+1))},
	} {
		if err := s.Put(t.Context(), e); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
}

func inf() float32 {
	x := float32(1e38)
	return x * 10
}

func testEmpty(t *testing.T, s vectorstore.Store, _ *Clock) {
	expect(t, search(t, s, 1, 8))
	found, err := s.Search(t.Context(), vectorstore.Search{Vector: make([]float32, 8)})
	if err != nil || len(found) > 0 {
		t.Errorf("a zero vector found %v, %v", found, err)
	}
}

func testLimit(t *testing.T, s vectorstore.Store, _ *Clock) {
	for i := range byte(20) {
		put(t, s, i, 1, 0.99-float32(i)/100, "a")
	}
	expect(t, search(t, s, 1, 3), 0, 1, 2)
	expect(t, search(t, s, 1, 0), 0)
	if got := len(search(t, s, 1, 1000)); got != vectorstore.MaxMatches {
		t.Errorf("found %d entries, want %d", got, vectorstore.MaxMatches)
	}
}

func testTexts(t *testing.T, s vectorstore.Store, _ *Clock) {
	const text = "\"Où\" \\ \n\t東京 <&> 'x' == \"y\" or 1"
	put(t, s, 1, 1, 1, text)
	if found := matches(t, s, 1, 0.5, 8); len(found) != 1 || found[0].Text != text {
		t.Errorf("found %+v, want the text %q", found, text)
	}
}

func testPutAfterPurge(t *testing.T, s vectorstore.Store, _ *Clock) {
	put(t, s, 1, 1, 1, "a")
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, 2, 1, 1, "b")
	expect(t, search(t, s, 1, 8), 2)
}

func testDeleteNothing(t *testing.T, s vectorstore.Store, _ *Clock) {
	if err := s.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}

func testDeleteMissing(t *testing.T, s vectorstore.Store, _ *Clock) {
	if err := s.Delete(t.Context(), Key(9)); err != nil {
		t.Error(err)
	}
}
