package bodies

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Read returns the bodies of a record. The caller owns them. It fails with ErrGone when
// they were deleted, and with ErrElsewhere when another node has them.
func (f *Files) Read(_ context.Context, ref Ref) (Set, error) {
	switch {
	case ref.None():
		return Set{}, nil
	case ref.File == Single:
		return Set{}, ErrGone // an object, and there are none any more
	case ref.Home != "" && ref.Home != f.o.Home:
		return Set{}, ErrElsewhere
	}
	file, err := os.Open(f.path(ref.File))
	if errors.Is(err, os.ErrNotExist) {
		return Set{}, ErrGone
	}
	if err != nil {
		return Set{}, fmt.Errorf("read bodies: %w", err)
	}
	defer func() { _ = file.Close() }() // read only: nothing to lose
	raw, rest, err := readBlock(file, ref.Block)
	if err != nil {
		return Set{}, fmt.Errorf("read bodies at %d in file %d: %w", ref.Block, ref.File, err)
	}
	s, err := ref.cut(raw, rest)
	if err != nil {
		return Set{}, fmt.Errorf("read bodies at %d in file %d: %w", ref.Block, ref.File, err)
	}
	return s, nil
}
