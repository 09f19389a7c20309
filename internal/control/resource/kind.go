package resource

import (
	"context"

	"sluice/internal/kernel/access"
)

// Kind defines one kind of record for the engine. It is data and pure functions: no SQL, no
// HTTP. T is the stored body, whose type and rules live in another package; V is what responses
// show of it. It has one field for each property of a kind, so that a kind reads as one list.
//
// A change merges the fields that were sent into the stored body: the JSON names of T are those
// of the wire. Fields that need more are listed in PreparedFields and handled by Prepare.
type Kind[T, V any] struct {
	Name    string   // of the stored records: "rate_limit_policy"; a constant of the package of T
	Object  string   // wire constant of "object": "policy_rate_limits"
	Title   string   // in texts: "rate-limit policy"
	Tag     string   // heading in the description: "Policies"
	Audited string   // resource type in the audit trail: "policies"
	Path    string   // "/policies/rate-limits"
	Also    []string // further paths with the same meaning: "/admin/workspaces"
	Param   string   // placeholder of one record: "rateLimitsPolicyId"
	Feature string   // deployment flag whose OFF disables the routes
	Verbs   Verb
	Scope   Scope

	// Perm is the prefix of the scopes: "policies" for policies.create and so on. Scopes replaces
	// it if the scope depends on the record. With a nil record it lists every scope that may
	// permit the action. An action of a Kind has its own scope name, such as "rotate".
	Perm   string
	Scopes func(action string, r *Row[T]) []access.Scope

	ByID     bool   // one record is named by its UUID only, not by a slug
	Suffix   string // "@": in reads, the name in the path may continue after it; View reads the rest
	Slug     string // prefix of a generated slug: "pc"; empty with ByID
	SlugFrom int    // how many characters of the name the slug contains
	// SlugPerWorkspace makes a slug unique in its workspace instead of in the organisation.
	SlugPerWorkspace bool

	Create, Update any      // zero values of the types that describe the bodies
	Delete         any      // zero value of the type of a deletion's body; nil for none
	PreparedFields []string // fields of the bodies that Prepare handles
	Creation       Creation
	Hides          func(path []string) bool // Operation.MaskedFields of creations and updates

	// Builtin returns records that exist in every organisation without being stored. They come
	// first in lists and can be read by id, but not changed.
	Builtin func(c *Call) []Row[T]

	PageSize int // of lists; 0 means 50
	PageMax  int // largest page size that a caller may request; 0 means 1000
	// HasMore makes lists report whether another page follows.
	HasMore bool
	Filters []Filter
	Views   []Param // further parameters of reading one record, for View
	// Archived makes the status filter list and show archived records too.
	Archived bool
	// Restorable lets an update with the status "active" restore an archived record.
	Restorable bool
	// Called narrows a query to the records that may have a name, by their index entries, and
	// returns a function that lists the names of such a record. Paths then accept a name that is
	// neither an id nor a slug. If it is nil, paths accept only ids and slugs.
	Called func(name string, q *Query) (names func(*T) []string)
	// Bare makes lists leave out the index entries of records, because lists show nothing that is
	// stored there. It cannot be combined with SlugPerWorkspace.
	Bare bool
	// Select narrows a list beyond its filters to what the caller may see.
	Select func(ctx context.Context, c *Call, q *Query) error

	// Authorize rejects calls that roles and scopes permit but the record does not. It runs
	// before any use of a record. It returns fault.NotFound for a record that the caller cannot
	// read, such as a key of another user: the client then gets the same response as for an id
	// that does not exist.
	Authorize func(ctx context.Context, c *Call, r *Row[T]) error
	// Locate sets WorkspaceID of a new record if Scope does not determine it.
	Locate func(ctx context.Context, c *Call, r *Row[T]) error
	// Prepare fills defaults and makes the changes that merging fields cannot; the old record is
	// nil at creation. It runs in the transaction, possibly more than once. Rules about the body
	// alone belong in T's Validate, which runs after Prepare.
	Prepare func(ctx context.Context, c *Call, ch *Edit[T]) error
	Refs    []Ref[T]
	// CanArchive returns an error if the record must not be archived; nil allows all.
	CanArchive func(ctx context.Context, c *Call, r *Row[T]) error
	Index      func(r *Row[T]) []IndexEntry // lookups and filters
	// After makes further changes that belong to any change of the record, actions included, in
	// the same transaction. When a record is archived, ch.New has the status archived.
	After func(ctx context.Context, tx Tx, c *Call, ch *Edit[T]) error

	// View shows a record; detail is set if it is the only record that is read.
	View func(ctx context.Context, c *Call, r Row[T], detail bool) (V, error)
	// Receipt is the response to a creation; nil means id, slug and object. Done contains the
	// fields that the response to an update has in addition to the record; nil means none.
	Receipt, Done *WriteResponse[T]

	Actions []Action[T]
}
