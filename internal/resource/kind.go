package resource

import (
	"context"

	"sluice/internal/access"
)

// Kind tells the engine everything it must know about one kind of record. It is
// data and pure functions: no SQL, no HTTP. T is the stored body, whose type and
// rules live in a room; V is what answers show of it.
//
// A change is made by laying the fields that were sent over the stored body: the
// JSON names of T are those of the wire. What needs more than that is listed in
// Own and done by Prepare.
type Kind[T, V any] struct {
	Name    string   // of the stored records: "rate_limit_policy"; a constant of the room
	Object  string   // wire constant of "object": "policy_rate_limits"
	Title   string   // for texts: "rate-limit policy"
	Tag     string   // heading in the description: "Policies"
	Audited string   // resource type in the audit trail: "policies"
	Path    string   // "/policies/rate-limits"
	Also    []string // further paths that mean the same: "/admin/workspaces"
	Param   string   // placeholder of one record: "rateLimitsPolicyId"
	Feature string   // deployment flag whose OFF disables the routes
	Verbs   Verb
	Scope   Scope

	// Perm is the stem of the scopes: "policies" for policies.create and so on.
	// Scopes replaces it where the scope depends on the record; with a nil record it
	// lists all that may do. An action of a Kind has its own word, such as "rotate".
	Perm   string
	Scopes func(action string, r *Row[T]) []access.Scope

	ByID     bool   // one record is named by its UUID alone, not by a slug
	Suffix   string // "@": on reads the name in the path may go on behind it, for View to see
	Slug     string // prefix of a generated slug: "pc"; empty with ByID
	SlugFrom int    // how many characters of the name go into it
	// SlugPerWorkspace makes a slug unique in its workspace instead of in the organisation.
	SlugPerWorkspace bool

	Create, Update any      // zero values of the types that describe the bodies
	Delete         any      // the same of the body of a deletion; nil for none
	PreparedFields []string // fields of the bodies that Prepare takes over
	Creation       Creation
	Hides          func(path []string) bool // of the bodies of creation and update: as in Operation

	// Builtin are records that exist for every organisation without being stored. They
	// come first in lists and can be read by id, but not changed.
	Builtin func(c *Call) []Row[T]

	PageSize int // of lists; 0 means 50
	PageMax  int // most that a caller may ask for; 0 means 1000
	// HasMore makes lists say whether there is a page behind the one that is shown.
	HasMore bool
	Filters []Filter
	Views   []Param // further parameters of reading one, for View
	// Archived makes the status filter list and show archived records too.
	Archived bool
	// Restorable lets an update with the status "active" bring an archived record back.
	Restorable bool
	// Called narrows a query to the records that may have a name, by their index entries, and
	// returns what names such a record has. Paths then take a name where neither an id nor a
	// slug fits; nil takes ids and slugs alone.
	Called func(name string, q *Query) (names func(*T) []string)
	// Bare says that nothing of a record which lists show stands in its index entries, so
	// that lists leave them out. Not together with SlugPerWorkspace.
	Bare bool
	// Select narrows a list beyond its filters, by what the caller may see.
	Select func(ctx context.Context, c *Call, q *Query) error

	// Authorize refuses what roles and scopes allow but the record does not. It runs before
	// anything is done with a record, and returns fault.NotFound for one that the caller
	// cannot read, such as a key of another user: the client then gets the answer to an id
	// that does not exist.
	Authorize func(ctx context.Context, c *Call, r *Row[T]) error
	// Locate says where a new record lives when Home does not: it sets WorkspaceID.
	Locate func(ctx context.Context, c *Call, r *Row[T]) error
	// Prepare fills defaults and does what laying fields over cannot, old being nil
	// at creation. It runs in the transaction, maybe more than once. Rules that hold
	// for a body on its own belong into T's Validate, which is called after it.
	Prepare func(ctx context.Context, c *Call, ch *Edit[T]) error
	Refs    []Ref[T]
	// CanArchive says why a record may not be archived; nil keeps none.
	CanArchive func(ctx context.Context, c *Call, r *Row[T]) error
	Index      func(r *Row[T]) []IndexEntry // look-ups and filters
	// After does what else belongs to a change of whatever sort, actions included, in
	// the same transaction. At archiving ch.New has the status archived.
	After func(ctx context.Context, tx Tx, c *Call, ch *Edit[T]) error

	// View shows a record; detail is set when it is the only one that is read.
	View func(ctx context.Context, c *Call, r Row[T], detail bool) (V, error)
	// Receipt is the answer to a creation; nil means id, slug and object. Done are the
	// fields that the answer to an update has besides the record; nil means none.
	Receipt, Done *WriteResponse[T]

	Actions []Action[T]
}
