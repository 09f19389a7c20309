package bodies_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/storage/requestlog/bodies"
)

// bucket is an object store in memory.
type bucket struct {
	mu      sync.Mutex // guards what follows
	objects map[string][]byte
	times   map[string]time.Time
	puts    map[string]int
	gets    int
	now     time.Time
	fail    func(key string) error // of Put; nil for none
}

func newBucket() *bucket {
	return &bucket{objects: map[string][]byte{}, times: map[string]time.Time{}, puts: map[string]int{}}
}

func (b *bucket) Put(_ context.Context, key string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts[key]++
	if b.fail != nil {
		if err := b.fail(key); err != nil {
			return err
		}
	}
	b.objects[key], b.times[key] = bytes.Clone(data), b.now
	return nil
}

func (b *bucket) Get(_ context.Context, key string, offset, limit int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gets++
	data, ok := b.objects[key]
	switch {
	case !ok:
		return nil, bodies.ErrGone
	case offset >= int64(len(data)):
		return nil, errors.New("no such range")
	}
	data = data[offset:]
	return bytes.Clone(data[:min(limit, int64(len(data)))]), nil
}

func (b *bucket) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}

func (b *bucket) keys() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.objects))
}

func (b *bucket) List(_ context.Context, prefix string, visit func(bodies.Object) bool) error {
	for _, key := range b.keys() {
		if strings.HasPrefix(key, prefix) && !visit(bodies.Object{Key: key, Modified: b.times[key]}) {
			return nil
		}
	}
	return nil
}

func (b *bucket) Folders(_ context.Context, prefix string) (out []string, _ error) {
	for _, key := range b.keys() {
		rest, ok := strings.CutPrefix(key, prefix)
		if folder, _, deeper := strings.Cut(rest, "/"); ok && deeper && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	return out, nil
}
