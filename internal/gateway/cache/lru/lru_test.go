package lru_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/lru"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// TestTheMapBehavesLikeAList compares the map with a list in the order of use.
func TestTheMapBehavesLikeAList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const maxBytes, maxEntries = 20, 5
		c := &clock{now: time.Unix(0, 0)}
		removed := map[lru.Cause]int{}
		m := lru.New(lru.Options[int]{MaxBytes: maxBytes, MaxEntries: maxEntries, Clock: c, Removed: func(_ lru.Item[int], cause lru.Cause) { removed[cause]++ }})
		var list []lru.Item[int] // the latest last
		take := func(k cachekey.Key) (it lru.Item[int], ok bool) {
			for i := range list {
				if list[i].Key == k {
					it = list[i]
					list = append(list[:i:i], list[i+1:]...)
					return it, true
				}
			}
			return it, false
		}
		want := map[lru.Cause]int{}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				it := lru.Item[int]{Key: key(t), Value: rapid.Int().Draw(t, "value"), Size: rapid.Int64Range(1, 22).Draw(t, "size"),
					Expires: c.now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "age")))}
				fits := it.Size <= maxBytes && c.now.Before(it.Expires)
				if _, ok := take(it.Key); ok && fits {
					want[lru.Replaced]++
				} else if ok {
					want[lru.Deleted]++
				}
				if fits {
					list = append(list, it)
				}
				for len(list) > maxEntries || bytes(list) > maxBytes {
					list = list[1:]
					want[lru.Evicted]++
				}
				if got := m.Put(it); got != fits {
					t.Fatalf("put: %v", got)
				}
			},
			"get": func(t *rapid.T) {
				k := key(t)
				it, ok := take(k)
				switch {
				case ok && c.now.Before(it.Expires):
					list = append(list, it)
				case ok:
					ok = false
					want[lru.Expired]++
				}
				if v, found := m.Get(k); found != ok || found && v != it.Value {
					t.Fatalf("get: %d %v, want %d %v", v, found, it.Value, ok)
				}
			},
			"delete": func(t *rapid.T) {
				k := key(t)
				_, ok := take(k)
				if ok {
					want[lru.Deleted]++
				}
				if m.Delete(k, nil) != ok {
					t.Fatalf("delete: want %v", ok)
				}
			},
			"time": func(*rapid.T) { c.now = c.now.Add(1) },
			"": func(t *rapid.T) {
				if entries, size := m.Len(); entries != int64(len(list)) || size != bytes(list) {
					t.Fatalf("%d entries with %d bytes, want %d with %d", entries, size, len(list), bytes(list))
				}
				for cause, n := range want {
					if removed[cause] != n {
						t.Fatalf("cause %d: %d, want %d", cause, removed[cause], n)
					}
				}
			},
		})
	})
}

func key(t *rapid.T) cachekey.Key { return cachekey.Key{0: rapid.ByteRange(0, 7).Draw(t, "key")} }

func bytes(list []lru.Item[int]) (n int64) {
	for _, it := range list {
		n += it.Size
	}
	return n
}

func TestDeleteMatchingRemovesFromAllShards(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Unix(0, 0)}
	m := lru.New(lru.Options[int]{MaxBytes: 1 << 30, MaxEntries: 1 << 10, Clock: c})
	for i := range 100 {
		m.Put(lru.Item[int]{Key: cachekey.Key{0: byte(i)}, Value: i, Size: 1, Expires: c.now.Add(1)})
	}
	if n := len(m.DeleteMatching(func(it *lru.Item[int]) bool { return it.Value%2 == 0 })); n != 50 {
		t.Errorf("%d removed", n)
	}
	for i := range 100 {
		if _, ok := m.Get(cachekey.Key{0: byte(i)}); ok != (i%2 == 1) {
			t.Errorf("%d: %v", i, ok)
		}
	}
}
