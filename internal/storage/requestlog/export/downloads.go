package export

import (
	"context"
	"errors"
	"io"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog/bodies"
)

// Downloads opens the files of exports, on this node or in the bucket.
type Downloads struct {
	*Files
	ObjectStore *ObjectStore // nil without a bucket
	NodeID      string       // id of this node
}

// OpenExport opens the file of the run of the export id. It returns fault.NotFound if the file does
// not exist, and fault.Overloaded while the bucket is unavailable. The caller must close the file.
func (f Downloads) OpenExport(ctx context.Context, id string, run record.ExportRun) (file io.ReadSeekCloser, err error) {
	switch {
	case !run.Shared:
		file, err = f.read(id)
	case f.ObjectStore == nil:
		return nil, fault.New(fault.NotFound, "the file is in the bucket of the log store, which this node does not use; set LOG_STORE, or create another export")
	default:
		file, err = f.ObjectStore.Open(ctx, id, run.ID, run.Mark.Bytes)
	}
	switch {
	case errors.Is(err, ErrGone):
		return nil, fault.New(fault.NotFound, "the file no longer exists; create another export")
	case errors.Is(err, bodies.ErrUnavailable):
		return nil, fault.New(fault.Overloaded, "the bucket with the file is unavailable; retry shortly").WithCause(err)
	}
	return file, err
}

// read opens a file of this node.
func (f Downloads) read(id string) (io.ReadSeekCloser, error) {
	file, err := f.Read(id)
	if err != nil {
		return nil, err // a nil *os.File in the interface would not be nil
	}
	return file, nil
}

// Node returns the id of this node.
func (f Downloads) Node() string { return f.NodeID }
