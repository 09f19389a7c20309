package resource

import "context"

// readCache is a Reader for the span of one call: it asks for each record once, so that
// showing a page of rows does not read what all of them share once per row. That there
// is none it does not remember. A call that writes reads through its transaction. It
// belongs to one goroutine.
type readCache struct {
	Reader
	found map[[2]string]Record
}

func newRecall(from Reader) *readCache { return &readCache{from, make(map[[2]string]Record)} }

// Find answers from memory what it found before.
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

// Shared is what make makes, made once for all rows that a call shows. It is not to be
// changed. A write makes it anew each time, because it may change what it read.
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
