package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Read returns the bodies of a record. The caller owns them. It returns ErrGone if they were
// deleted, and ErrElsewhere if another node has them.
func (f *Files) Read(_ context.Context, ref Ref) (Set, error) { return f.readThrough(nil, ref) }

// Reading reads bodies of many records that are close together, as in a search. It caches the
// blocks that it read last. It is for one goroutine and a short time, because it does not notice
// deletions meanwhile.
type Reading struct {
	files  *Files
	blocks blockCache
}

// Reading returns a new Reading.
func (f *Files) Reading() *Reading { return &Reading{files: f} }

// Read works like Files.Read.
func (r *Reading) Read(_ context.Context, ref Ref) (Set, error) {
	return r.files.readThrough(&r.blocks, ref)
}

// readThrough reads with a block cache; nil caches nothing.
func (f *Files) readThrough(blocks *blockCache, ref Ref) (Set, error) {
	switch {
	case ref.None():
		return Set{}, nil
	case ref.File == Single:
		return Set{}, ErrGone // an object, but there is no object store any more
	case ref.Node != "" && ref.Node != f.o.Node:
		return Set{}, ErrElsewhere
	}
	b, err := f.block(blocks, blockRef{number: ref.File, offset: ref.Block})
	if err != nil {
		return Set{}, err
	}
	s, err := ref.cut(b.raw, b.rest)
	if err != nil {
		return Set{}, fmt.Errorf("read bodies at %d in file %d: %w", ref.Block, ref.File, err)
	}
	return s, nil
}

func (f *Files) block(blocks *blockCache, ref blockRef) (*block, error) {
	if blocks != nil {
		if b := blocks.find(ref); b != nil {
			return b, nil
		}
	}
	file, err := os.Open(f.path(ref.number))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("read bodies: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing is lost
	b := new(block)
	if b.raw, b.rest, err = readBlock(file, ref.offset); err != nil {
		return nil, fmt.Errorf("read bodies at %d in file %d: %w", ref.offset, ref.number, err)
	}
	if blocks != nil {
		blocks.put(ref, b)
	}
	return b, nil
}
