package resource

import "context"

// readCache is a Reader for one call. It reads each record once, so that showing a page of rows
// does not read what all rows share once per row. It does not cache missing records. A call that
// writes reads through its transaction instead. A readCache belongs to one goroutine.
type readCache struct {
	Reader
	found map[[2]string]Record
}

func newRecall(from Reader) *readCache { return &readCache{from, make(map[[2]string]Record)} }

// Find returns a record that it found before from memory.
func (r *readCache) Find(ctx context.Context, kind, id string) (Record, error) {
	key := [2]string{kind, id}
	if rec, known := r.found[key]; known {
		return rec, nil
	}
	rec, err := r.Reader.Find(ctx, kind, id)
	if err == nil {
		r.found[key] = rec
	}
	return rec, err
}

// Shared returns the result of make, which runs once for all rows that a call shows. The result
// must not be changed. In a write, make runs each time, because the write may change what make
// reads.
func Shared[T any](c *Call, name string, make func() (T, error)) (T, error) {
	if _, writes := c.Reader.(Tx); writes {
		return make()
	}
	if v, known := c.shared[name]; known {
		return v.(T), nil
	}
	v, err := make()
	if err == nil {
		if c.shared == nil {
			c.shared = map[string]any{}
		}
		c.shared[name] = v
	}
	return v, err
}
