package record

import "time"

// ExportFormat is the form of the file of an export. The names are ours.
type ExportFormat string

// The formats: an object a line, or Apache Parquet.
const (
	ExportJSONL   ExportFormat = "jsonl"
	ExportParquet ExportFormat = "parquet"
)

// ExportCompression is how the file of an export is compressed: JSON lines as a whole, a
// Parquet file in its pages.
type ExportCompression string

// The compressions.
const (
	ExportPlain ExportCompression = "none"
	ExportGzip  ExportCompression = "gzip"
	ExportZstd  ExportCompression = "zstd"
)

// ExportRun is what is kept of the run of an export, so that it goes on after a crash from
// where it was and not from the beginning. The zero value is that of one that was never
// started.
type ExportRun struct {
	ID      string     `json:"id,omitempty"`      // another one at each start
	Node    string     `json:"node,omitempty"`    // name of the node that runs it, and has its file unless that is shared
	Shared  bool       `json:"shared,omitempty"`  // the file is in the bucket of the log
	Only    string     `json:"only,omitempty"`    // user whose data alone the starter could see; empty for everybody's
	Started time.Time  `json:"started,omitzero"`  // rows that began later are left out
	Ended   time.Time  `json:"ended,omitzero"`    // of a run that was done, failed or was stopped
	Total   int64      `json:"total,omitempty"`   // rows that the file will have, as counted at first
	Counted bool       `json:"counted,omitempty"` // Total is known
	Mark    ExportMark `json:"mark"`
	Error   string     `json:"error,omitempty"` // why it failed, for people
}

// ExportMark is how far the file of an export is: so many bytes of it hold so many rows,
// the last of which is at the cursor. Later bytes of the file do not count.
type ExportMark struct {
	Rows   int64  `json:"rows,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Cursor Cursor `json:"cursor,omitempty"`
}

// MaxRunningExports is how many exports of an organisation a node has under way or waiting.
const MaxRunningExports = 20

// ExportNodeIndex names the index entry by which a node finds the exports that it runs.
const ExportNodeIndex = "export_node"

// ExportRunningIndex and ExportRunningValue are the index entry by which any node finds the
// exports that are under way.
const (
	ExportRunningIndex = "export_running"
	ExportRunningValue = "1"
)

// ExportType is the type of the values of a column, which decides how a file stores them.
type ExportType int

// The types, with the Go type that ExportColumn.Of answers.
const (
	ExportText   ExportType = iota // string
	ExportCount                    // int64
	ExportAmount                   // float64
	ExportFlag                     // bool
	ExportTime                     // time.Time, to the millisecond
	ExportJSON                     // json.RawMessage, valid JSON
)

// ExportColumn is a field of the rows of an export.
type ExportColumn struct {
	Name string // of ExportFields
	Type ExportType
	// Value is the value of an attempt: of the Go type that Type names, or nil for none.
	Value func(*Attempt) any
	// Bodies means that Of reads the bodies of the attempt.
	Bodies bool
}
