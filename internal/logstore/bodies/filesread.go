package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Read returns the bodies of a record. The caller owns them. It fails with ErrGone when
// they were deleted, and with ErrElsewhere when another node has them.
func (f *Files) Read(_ context.Context, ref Ref) (Set, error) { return f.readThrough(nil, ref) }

// Reading reads bodies of many records that lie together, as those of a search do: it
// remembers the blocks that it read last. It is for one goroutine and a short time, since
// it does not hear of what is deleted meanwhile.
type Reading struct {
	files  *Files
	blocks blockCache
}

// Reading begins one.
func (f *Files) Reading() *Reading { return &Reading{files: f} }

// Read is as that of Files.
func (r *Reading) Read(_ context.Context, ref Ref) (Set, error) {
	return r.files.readThrough(&r.blocks, ref)
}

// readThrough reads by way of remembered blocks; nil remembers none.
func (f *Files) readThrough(blocks *blockCache, ref Ref) (Set, error) {
	switch {
	case ref.None():
		return Set{}, nil
	case ref.File == Single:
		return Set{}, ErrGone // an object, and there are none any more
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
	defer func() { _ = file.Close() }() // read only: nothing to lose
	b := new(block)
	if b.raw, b.rest, err = readBlock(file, ref.offset); err != nil {
		return nil, fmt.Errorf("read bodies at %d in file %d: %w", ref.offset, ref.number, err)
	}
	if blocks != nil {
		blocks.put(ref, b)
	}
	return b, nil
}
