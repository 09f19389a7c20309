package resource

import (
	"context"
	"strings"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/sealed"
)

// Verb is a set of the five operations that a kind can have.
type Verb uint

// The operations.
const (
	Create Verb = 1 << iota
	List
	Get
	Update
	Delete

	AllVerbs = Create | List | Get | Update | Delete
)

// Scope is where the records of a kind live.
type Scope int

// The scopes.
const (
	InWorkspace    Scope = iota // each in one workspace
	InOrganisation              // of the organisation, but not of a workspace
	Located                     // Kind.Locate decides
	IsWorkspace                 // the record is itself a workspace
)

// Row is a record with its decoded body.
type Row[T any] struct {
	Record
	Value T
}

// Edit is a change to a record before it is stored.
type Edit[T any] struct {
	Old  *Row[T] // nil at creation
	New  *Row[T]
	Sent Sent // the fields that were sent
	// Raw is a secret that the response shows once. It is never stored in plain text.
	Raw sealed.String
}

// Ref is a field that names a record of another kind. The record must exist when the field is
// written. It cannot be archived while a live record refers to it, unless Cascade is set: then
// After archives the referring records too.
type Ref[T any] struct {
	Kind string
	// Find returns the record that the field names; nil if the field is empty. If the record is
	// not found, it returns the error.
	Find func(ctx context.Context, c *Call, r *Row[T]) (*Record, error)
	// All replaces Find in fields that name several records, in any order and number.
	All     func(ctx context.Context, c *Call, r *Row[T]) ([]*Record, error)
	Cascade bool
}

// Filter is a query parameter of a list. With Index it selects by the index entry of that name;
// otherwise Apply changes the query.
type Filter struct {
	Param
	Index string
	Apply func(c *Call, value string, q *Query) error
}

// Creation is the create route of a kind, if it is not a plain POST on the path.
type Creation struct {
	Path   string // "/api-keys/{type}/{sub_type}"
	Params []Param
}

// WriteResponse is the response to a write: its type for the description, and the function that
// builds it.
type WriteResponse[T any] struct {
	Shape any // zero value of what Make returns
	Make  func(ctx context.Context, c *Call, ch *Edit[T]) (any, error)
}

// Action is an operation on one record in addition to the five verbs. After Run, ch.New is
// written as an update.
type Action[T any] struct {
	Name     string // scope, and action name in the audit trail: "rotate"
	Path     string // after the path of the record: "/rotate"
	Method   string // "POST"
	ID       string // "rotateApiKey"
	Summary  string
	Params   []Param // further placeholders of Path
	Query    []Param
	Body     any // as in Operation
	Optional bool
	Response any
	// Scope is the action whose scope is required, if it is not Name, or a complete scope of
	// another resource: "agent_server_skills.read".
	Scope string
	Run   func(ctx context.Context, tx Tx, c *Call, ch *Edit[T]) (any, error)
	// Read replaces Run in an action that changes nothing. Method is GET, or POST if the action
	// tries something outside the gateway.
	Read func(ctx context.Context, c *Call, r Row[T]) (any, error)
	// Watched makes a Read leave a row in the audit trail. If the row cannot be written, the call
	// fails.
	Watched bool
}

// scopes returns the scopes for an action; the caller needs one of them.
func (k *Kind[T, V]) scopes(action string, r *Row[T]) []access.Scope {
	if strings.Contains(action, ".") {
		return []access.Scope{access.Scope(action)}
	}
	if k.Scopes != nil {
		return k.Scopes(action, r)
	}
	return []access.Scope{access.Scope(k.Perm + "." + action)}
}

// target returns where a record counts in permission checks.
func (k *Kind[T, V]) target(r *Row[T]) access.Target {
	t := access.Target{OrgID: r.OrgID, WorkspaceID: r.WorkspaceID}
	if k.Scope == IsWorkspace {
		t.WorkspaceID = r.ID
	}
	return t
}

func (k *Kind[T, V]) refers() map[string]usage {
	m := make(map[string]usage)
	for _, r := range k.Refs {
		m[r.Kind] = usage{kind: k.Name, title: k.Title, cascade: r.Cascade}
	}
	return m
}
