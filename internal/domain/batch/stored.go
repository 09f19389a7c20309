package batch

import (
	"strconv"
	"time"
)

// Chunk is a part of the content of a file, sealed.
type Chunk struct {
	FileID  string
	Number  int // from 0
	Expires time.Time
	Data    []byte
}

// Added is what a change of a batch adds to the store: parts of its result files, and the files
// once they are complete.
type Added struct {
	Chunks []Chunk
	Files  []*File
}

// Page selects objects of a workspace, the newest first.
type Page struct {
	WorkspaceID string
	After       string // id of the last object of the page before; empty for the first page
	Limit       int
	Now         time.Time // expired files are not listed
}

// ChunkContext returns the sealing context of a part of a file.
func ChunkContext(fileID string, number int) string {
	return "batch_chunk/" + fileID + "/" + strconv.Itoa(number)
}

// HeaderContext returns the sealing context of the header of a batch.
func HeaderContext(batchID string) string { return "batch_headers/" + batchID }
