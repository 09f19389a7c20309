package bodies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/domain/record"
)

// Bucket is an object store: *objects.Bucket. It is safe for concurrent use.
type Bucket interface {
	// Put stores an object; it replaces one with the same key.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns at most max bytes of an object from an offset; ErrGone if the object does not
	// exist or ends before the offset.
	Get(ctx context.Context, key string, offset, max int64) ([]byte, error)
	// Delete deletes an object; a missing one is not an error.
	Delete(ctx context.Context, key string) error
	// List calls visit with the objects whose keys begin with prefix, in the order of their keys,
	// until visit returns false.
	List(ctx context.Context, prefix string, visit func(Object) bool) error
	// Folders returns the next key segments after prefix, with their slash: "a/" of "x/a/1" for
	// "x/".
	Folders(ctx context.Context, prefix string) ([]string, error)
}

// Object is an entry of a list.
type Object struct {
	Key      string
	Modified time.Time
}

// ObjectOptions configure how bodies are stored as objects. Bucket, Node and Dir are required.
type ObjectOptions struct {
	Dir         string // of this node, must exist; it stores which numbers are used
	Bucket      Bucket
	Node        string                          // this node's name, part of the keys that it writes
	Format      Format                          // empty means Blocks
	Local       *Files                          // this node's earlier files; nil for none
	Slug        func(workspaceID string) string // for V2; nil or an empty result: the id is used instead
	BlockBytes  int                             // of bodies in a block, before compression; 0 means 512 KiB
	ObjectBytes int                             // after which a new object begins; 0 means 8 MiB
	Uploads     int                             // at once; 0 means 16
}

func (o ObjectOptions) withDefaults() ObjectOptions {
	if o.Format == "" {
		o.Format = Blocks
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = 512 << 10
	}
	if o.ObjectBytes == 0 {
		o.ObjectBytes = 8 << 20
	}
	if o.Uploads == 0 {
		o.Uploads = 16
	}
	return o
}

// Objects stores bodies in an object store. Objects of blocks are numbered like files and contain
// one flush or a part of it. An object is written once: a used number is never used again, even
// if the upload fails. Read is safe for concurrent use; the other methods belong to one goroutine
// at a time.
type Objects struct {
	o      ObjectOptions
	mark   Mark   // after the last flush
	number uint32 // of the present object
	used   bool   // whether anything was added under it
	raw    []byte // bodies of the block being filled
	blocks []byte // finished blocks of the present object

	numbers numbers
	uploads uploads
	cache   blockCache
}

// NewObjects creates the store. Call Resume before adding.
func NewObjects(o ObjectOptions) *Objects { return &Objects{o: o.withDefaults()} }

// Resume returns to a mark: it discards what was added after it. It first cancels uploads in
// progress.
func (s *Objects) Resume(ctx context.Context, m Mark) error {
	s.uploads.cancel()
	s.raw, s.blocks, s.used, s.mark = s.raw[:0], nil, false, m
	if err := s.numbers.begin(s.o.Dir, m.File); err != nil || s.o.Local == nil {
		return err
	}
	return s.o.Local.Resume(ctx, m)
}

// Add copies the bodies of an attempt. They can be read after Flush. Empty bodies take no space.
func (s *Objects) Add(ctx context.Context, a *record.Attempt) (Ref, error) {
	set := FromAttempt(a)
	n := set.size()
	switch {
	case n == 0:
		return Ref{}, nil
	case n > maxBodies:
		return Ref{}, fmt.Errorf("add bodies: %d bytes exceed the maximum of %d", n, maxBodies)
	case s.o.Format != Blocks:
		return s.addSingle(ctx, a)
	}
	if len(s.raw) > 0 && len(s.raw)+n > s.o.BlockBytes {
		if err := s.endBlock(ctx); err != nil {
			return Ref{}, err
		}
	}
	if !s.used {
		number, err := s.numbers.take()
		if err != nil {
			return Ref{}, err
		}
		s.number, s.used = number, true
	}
	ref := Ref{
		Node: s.o.Node, File: s.number, Block: int64(len(s.blocks)), Offset: uint32(len(s.raw)),
		Request: uint32(len(set[Request])), Response: uint32(len(set[Response])),
	}
	s.raw = appendSet(s.raw, &set)
	return ref, nil
}

// endBlock encodes the block being filled, and begins a new object if the present one is large.
func (s *Objects) endBlock(ctx context.Context) (err error) {
	if s.blocks, err = appendBlock(s.blocks, s.raw); err != nil {
		return err
	}
	s.raw = s.raw[:0]
	if len(s.blocks) >= s.o.ObjectBytes {
		s.endObject(ctx)
	}
	return nil
}

// endObject starts the upload of the present object.
func (s *Objects) endObject(ctx context.Context) {
	s.mark = Mark{File: s.number, Size: int64(len(s.blocks))}
	s.uploads.put(ctx, &s.o, blockKey(s.o.Node, s.number), s.blocks)
	s.blocks, s.used = nil, false
}

// Flush waits until everything is stored and returns the mark after it. After an error the store
// must Resume at a mark before it is used again.
func (s *Objects) Flush(ctx context.Context) (Mark, error) {
	if len(s.raw) > 0 {
		if err := s.endBlock(ctx); err != nil {
			return Mark{}, err
		}
	}
	if len(s.blocks) > 0 {
		s.endObject(ctx)
	}
	if err := s.uploads.wait(); err != nil {
		return Mark{}, fmt.Errorf("write bodies: %w", err)
	}
	return s.mark, nil
}

// Read returns the bodies of a record, of any node. The caller owns them. It returns ErrGone if
// they were deleted.
func (s *Objects) Read(ctx context.Context, ref Ref) (Set, error) {
	switch {
	case ref.None():
		return Set{}, nil
	case ref.File == Single:
		return s.readSingle(ctx, ref)
	}
	if node := ref.Node; s.o.Local != nil && (node == "" || node == s.o.Node) {
		if set, err := s.o.Local.Read(ctx, ref); !errors.Is(err, ErrGone) {
			return set, err
		}
	}
	if ref.Node == "" {
		ref.Node = s.o.Node
	}
	b, err := s.block(ctx, ref)
	if err == nil {
		var set Set
		if set, err = ref.cut(b.raw, b.rest); err == nil {
			return set, nil
		}
	}
	return Set{}, fmt.Errorf("read bodies at %d in object %d: %w", ref.Block, ref.File, err)
}

// firstGet is how many bytes of an object are requested at first: most blocks are shorter.
const firstGet = 256 << 10

// block returns the block of a reference, from the cache or the object store.
func (s *Objects) block(ctx context.Context, ref Ref) (*block, error) {
	blockAt := blockRef{ref.Node, ref.File, ref.Block}
	if b := s.cache.find(blockAt); b != nil {
		return b, nil
	}
	key := blockKey(ref.Node, ref.File)
	from := window{get: func(offset, size int64) ([]byte, error) { return s.o.Bucket.Get(ctx, key, offset, size) }}
	if err := from.fill(ref.Block, firstGet); err != nil {
		return nil, err
	}
	raw, rest, err := readBlock(&from, ref.Block)
	if err != nil {
		return nil, err
	}
	b := &block{raw, rest}
	s.cache.put(blockAt, b)
	return b, nil
}

// Close discards what was not flushed.
func (s *Objects) Close() error {
	s.uploads.cancel()
	if s.o.Local != nil {
		return s.o.Local.Close()
	}
	return nil
}
