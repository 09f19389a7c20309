// Package resource is the control-plane engine. It implements the verbs and does not depend on
// any kind of record. The areas of control describe the kinds, and an implementation of Store stores
// them. Start reading at serve.go and kind.go.
package resource

import (
	"context"
	"errors"
	"time"

	"sluice/internal/kernel/fault"
)

// Record is one stored object of any kind. Body is the JSON of the kind's type; the other fields
// are those that the engine needs.
type Record struct {
	Kind        string // "config"
	ID          string // UUID v7
	OrgID       string // empty for records of the deployment
	WorkspaceID string // empty for records of the organisation
	Slug        string // unique per kind and organisation when not empty
	Name        string
	Status      string // "active", "archived", …
	Version     int64  // 1 at creation, one more with each write
	Created     time.Time
	Updated     time.Time
	Body        []byte
	Index       []IndexEntry // lookups and filters, all replaced with each write
}

// IndexEntry makes a record findable by a field of its body. A unique entry may exist once per
// kind: a second one is fault.Conflict.
type IndexEntry struct {
	Name   string // "hash"
	Value  string // at most 255 bytes
	Unique bool
}

// Query selects records of one kind. Empty fields select everything. The order is by id, which
// is the order of creation; After continues after the id of the last row seen.
type Query struct {
	Kind        string
	OrgID       string
	WorkspaceID string
	IDs         []string // one of these, at most 1000; nil means any, and an empty list means none
	Slug        string
	Statuses    []string
	Index       []IndexEntry // all must match; Unique is ignored
	OneOf       []IndexEntry // one of these must match; nil means any
	Search      string       // part of the name, ignoring case
	After       string
	Limit       int  // 1 to 1000; 0 means 100
	Offset      int  // for page numbers; used with Limit
	Newest      bool // newest first
	Bare        bool // List leaves out the index entries of the records
}

// Change is one entry of the feed that live copies follow. Seq grows in commit order as a reader
// sees it: a reader that has seen Seq n never finds a new change with a smaller Seq later.
type Change struct {
	Seq     int64
	Kind    string
	ID      string
	Deleted bool
}

// Link attaches one record to another in a named set, for example the workspaces
// of an integration.
type Link struct {
	Set      string // "integration.workspaces"
	FromID   string
	ToID     string
	Body     []byte // JSON, may be empty
	Position int
}

// Reader reads committed records. Find returns fault.NotFound for a missing record.
type Reader interface {
	Find(ctx context.Context, kind, id string) (Record, error)
	FindSlug(ctx context.Context, kind, orgID, slug string) (Record, error)
	List(ctx context.Context, q Query) ([]Record, error)
	Count(ctx context.Context, q Query) (int, error)
	Versions(ctx context.Context, kind, id string) ([]Record, error)
	Links(ctx context.Context, set, fromID string) ([]Link, error)
}

// ErrMoved is wrapped in the fault.Conflict of an Update whose record has a newer version. The
// caller may read the record again and retry.
var ErrMoved = errors.New("the record has a newer version")

// Tx is one transaction: reads see its own writes. Insert, Update and Delete add an entry to the
// change feed in the same transaction.
type Tx interface {
	Reader
	Insert(ctx context.Context, r Record) error // Conflict if the id, the slug or a unique index entry exists
	Update(ctx context.Context, r Record) error // r.Version is the version read; Conflict if it has changed
	Delete(ctx context.Context, kind, id string) error
	// Rewrite replaces each stored body of a record, past versions included, with what f makes of
	// it. It returns how many bodies it changed. It creates neither a version nor an entry in the
	// feed: the new body must mean the same as the old one.
	Rewrite(ctx context.Context, kind, id string, f func(Record) ([]byte, error)) (int, error)
	PutLinks(ctx context.Context, set, fromID string, links []Link) error // replaces the set
	Audit(ctx context.Context, a AuditRow) error
}

// AuditRow is one administrative action. Body is JSON with secrets masked.
// Source: spec, What the service does, point 7.
type AuditRow struct {
	ID, OrgID, WorkspaceID string
	ActorID, ActorKind     string // id of the user or key, and the kind of actor
	Action, Kind, TargetID string
	CreatedAt              time.Time
	RemoteIP, Method, Path string
	RequestID              string
	Status                 int
	Body                   []byte
}

// Store stores records. Reads use the reader connection; InTx runs on the writer and repeats f
// if the database requires it, so f must not have other effects. If the writer is unavailable,
// InTx fails with fault.ReadOnly while reads continue.
type Store interface {
	Reader
	InTx(ctx context.Context, f func(Tx) error) error
	Changes(ctx context.Context, after int64, limit int) ([]Change, error) // in order of Seq
	LastChange(ctx context.Context) (int64, error)
}

// ReadLatest reads data that may have been written a moment ago. The reader of a store may be a
// replica that lags, and at a first start it does not even have the tables. So ReadLatest reads
// from the writer, and from the reader only while the writer is down. read may run twice.
func ReadLatest(ctx context.Context, s Store, read func(Reader) error) error {
	err := s.InTx(ctx, func(tx Tx) error { return read(tx) })
	if fault.Has(err, fault.ReadOnly) {
		return read(s)
	}
	return err
}
