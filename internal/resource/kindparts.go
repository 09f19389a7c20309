package resource

import (
	"context"
	"strings"

	"sluice/internal/access"
	"sluice/internal/sealed"
)

// Verb is a set of the five things that can be done with every kind.
type Verb uint

// The verbs.
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

// The homes.
const (
	InWorkspace    Scope = iota // each in one workspace
	InOrganisation              // of the organisation, but not of a workspace
	Located                     // Kind.Locate says it
	IsWorkspace                 // the record is itself a workspace
)

// Row is a record with its decoded body.
type Row[T any] struct {
	Record
	Value T
}

// Edit is a change to a record on its way into the store.
type Edit[T any] struct {
	Old  *Row[T] // nil at creation
	New  *Row[T]
	Sent Sent // the fields that were sent
	// Raw is a secret that the answer shows once and nothing stores in the clear.
	Raw sealed.String
}

// Ref is a field that names a record of another kind. The record must exist when
// the field is written, and cannot be archived while a live record refers to it,
// unless Cascade is set: then what refers to it is archived with it by After.
type Ref[T any] struct {
	Kind string
	// Find returns the record that the field names; nil when it names none. What it
	// cannot find is its error.
	Find func(ctx context.Context, c *Call, r *Row[T]) (*Record, error)
	// All is Find of what names several records, in any order and number.
	All     func(ctx context.Context, c *Call, r *Row[T]) ([]*Record, error)
	Cascade bool
}

// Filter is a parameter of a list. With Index it selects by the index entry of that
// name, else Apply does the rest.
type Filter struct {
	Param
	Index string
	Apply func(c *Call, value string, q *Query) error
}

// Creation is the route of creation when it is not a plain POST on the path.
type Creation struct {
	Path   string // "/api-keys/{type}/{sub_type}"
	Params []Param
}

// WriteResponse is an answer to a write: its type for the description, and how it is made.
type WriteResponse[T any] struct {
	Shape any // zero value of what Make returns
	Make  func(ctx context.Context, c *Call, ch *Edit[T]) (any, error)
}

// Action is something that can be done with one record besides the five verbs. What
// Run makes of ch.New is written as an update.
type Action[T any] struct {
	Name     string // scope, and word in the audit trail: "rotate"
	Path     string // behind that of the record: "/rotate"
	Method   string // "POST"
	ID       string // "rotateApiKey"
	Summary  string
	Params   []Param // what further placeholders of Path mean
	Query    []Param
	Body     any // as in Operation
	Optional bool
	Response any
	// Scope is the action word whose scope is asked for, when it is not Name, or a whole
	// scope that is not the kind's: "agent_server_skills.read".
	Scope string
	Run   func(ctx context.Context, tx Tx, c *Call, ch *Edit[T]) (any, error)
	// Read replaces Run in an action that changes nothing; Method is GET, or POST where
	// something outside is tried.
	Read func(ctx context.Context, c *Call, r Row[T]) (any, error)
	// Watched makes a Read leave a row in the audit trail, without which it fails.
	Watched bool
}

// scopes are what the caller needs one of for an action.
func (k *Kind[T, V]) scopes(action string, r *Row[T]) []access.Scope {
	if strings.Contains(action, ".") {
		return []access.Scope{access.Scope(action)}
	}
	if k.Scopes != nil {
		return k.Scopes(action, r)
	}
	return []access.Scope{access.Scope(k.Perm + "." + action)}
}

// target is where a record counts when access is decided.
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
