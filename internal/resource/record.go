// Package resource is the control-plane engine: it knows verbs and no kind. Kinds
// are described in package admin, stored by whatever satisfies Store.
package resource

import (
	"context"
	"errors"
	"time"
)

// Record is one stored thing of any kind. Body is the JSON of the kind's type;
// the fields beside it are those that the engine itself needs.
type Record struct {
	Kind        string // "config"
	ID          string // UUID v7
	OrgID       string // empty for records of the whole deployment
	WorkspaceID string // empty for records of the organisation
	Slug        string // unique per kind and organisation when not empty
	Name        string
	Status      string // "active", "archived", …
	Version     int64  // 1 at creation, one more with each write
	Created     time.Time
	Updated     time.Time
	Body        []byte
	Index       []IndexEntry // look-ups and filters, replaced as a whole with each write
}

// IndexEntry makes a record findable by a field of its body. A unique entry may
// exist once per kind: a second one is fault.Conflict.
type IndexEntry struct {
	Name   string // "hash"
	Value  string // at most 255 bytes
	Unique bool
}

// Query selects records of one kind. Empty fields select everything. Order is by
// id, so by time of creation; After continues behind the id of the last row seen.
type Query struct {
	Kind        string
	OrgID       string
	WorkspaceID string
	IDs         []string // one of these, at most 1000; nil means any, and an empty list none
	Slug        string
	Statuses    []string
	Index       []IndexEntry // all must match; Unique is ignored
	OneOf       []IndexEntry // one of these must match; nil means any
	Search      string       // part of the name, case folded
	After       string
	Limit       int  // 1 to 1000; 0 means 100
	Offset      int  // for page numbers; used with Limit
	Newest      bool // newest first
	Bare        bool // List leaves the index entries of the records out
}

// Change is one line of the feed that live copies follow. Seq grows by commit
// order as seen by a reader: a reader that has seen Seq n never later finds a
// change with a smaller one that it had not seen.
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

// Reader reads committed records. Find misses with fault.NotFound.
type Reader interface {
	Find(ctx context.Context, kind, id string) (Record, error)
	FindSlug(ctx context.Context, kind, orgID, slug string) (Record, error)
	List(ctx context.Context, q Query) ([]Record, error)
	Count(ctx context.Context, q Query) (int, error)
	Versions(ctx context.Context, kind, id string) ([]Record, error)
	Links(ctx context.Context, set, fromID string) ([]Link, error)
}

// ErrMoved is in the fault.Conflict of an Update whose record is of another version by
// now: who reads it again may try again.
var ErrMoved = errors.New("the record has a newer version")

// Tx is one transaction: reads see its own writes. Insert, Update and Delete add a
// line to the change feed of the same transaction.
type Tx interface {
	Reader
	Insert(ctx context.Context, r Record) error // Conflict when id, slug or a unique index entry exists
	Update(ctx context.Context, r Record) error // r.Version is the version read; Conflict when it moved on
	Delete(ctx context.Context, kind, id string) error
	// Rewrite puts what f makes of a body in the place of each body that is kept for a
	// record, past versions included, and returns how many it changed. It makes no
	// version and no line in the feed: the new body must mean what the old one meant.
	Rewrite(ctx context.Context, kind, id string, f func(Record) ([]byte, error)) (int, error)
	PutLinks(ctx context.Context, set, fromID string, links []Link) error // replaces the set
	Audit(ctx context.Context, a AuditRow) error
}

// AuditRow is one administrative action. Body is JSON with secrets masked.
// Source: spec, What the service does, point 7.
type AuditRow struct {
	ID, OrgID, WorkspaceID string
	ActorID, ActorKind     string // user or key, and which
	Action, Kind, TargetID string
	CreatedAt              time.Time
	RemoteIP, Method, Path string
	RequestID              string
	Status                 int
	Body                   []byte
}

// Store keeps records. Reads go to the reader connection; InTx runs on the writer
// and is retried when the engine asks for it, so f must have no other effects.
// With the writer away InTx fails with fault.ReadOnly while reads go on.
type Store interface {
	Reader
	InTx(ctx context.Context, f func(Tx) error) error
	Changes(ctx context.Context, after int64, limit int) ([]Change, error) // in order of Seq
	LastChange(ctx context.Context) (int64, error)
}
