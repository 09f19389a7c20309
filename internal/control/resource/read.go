package resource

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// The statuses that the engine itself uses.
const (
	Active   = "active"
	Archived = "archived" // deleted: not listed, not found, its slug free again
)

// living lists the statuses of records that exist for clients.
var living = []string{Active, "exhausted", "expired"}

// LiveStatuses returns the statuses of records that exist for clients. The caller owns the list.
func LiveStatuses() []string { return slices.Clone(living) }

// list returns a page of a kind, newest first.
func (k *Kind[T, V]) list(ctx context.Context, c *Call) (any, error) {
	q := Query{Kind: k.Name, OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, Newest: true}
	if k.Scope == IsWorkspace || k.Scope == InOrganisation {
		q.WorkspaceID = ""
	}
	if k.Scope == IsWorkspace && !c.Principal.IsOrgWide() {
		q.IDs = callerWorkspaceIDs(c.Principal)
	}
	if err := k.applyFilters(ctx, c, &q); err != nil {
		return nil, err
	}
	if q.Limit = c.Int("page_size"); q.Limit == 0 {
		q.Limit = k.pageSize()
	}
	q.Offset = c.Int("current_page") * q.Limit
	q.Bare = k.Bare && !slices.Contains(q.Statuses, Archived) // the index entries of an archived record contain its slug
	through := q.Offset + q.Limit
	builtin, more := k.builtin(c, &q)
	out := ListOf[V]{Object: "list", Data: make([]V, 0, len(builtin)+min(q.Limit, rowsAtOnce))}
	for _, r := range builtin {
		v, err := k.View(ctx, c, r, false)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, v)
	}
	total, err := k.page(ctx, c, q, func(rec Record) error {
		v, err := k.show(ctx, c, rec, false)
		out.Data = append(out.Data, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Total = total + more
	if k.HasMore {
		return MoreOf[V]{out, through < out.Total}, nil
	}
	return out, nil
}

// callerWorkspaceIDs returns the workspaces that are visible to a caller who cannot name any
// workspace of the organisation: that of a key, or those to which a user belongs.
func callerWorkspaceIDs(p *access.Principal) []string {
	if id := p.WorkspaceID; id != "" {
		if !p.BelongsTo(id) { // the user of the key has left it
			return []string{}
		}
		return []string{id}
	}
	return slices.AppendSeq(make([]string, 0, len(p.Memberships)), maps.Keys(p.Memberships))
}

// rowsAtOnce is how many rows of a page are in memory at a time: a body can have a megabyte, and
// a view is usually small.
const rowsAtOnce = 50

// page reads the rows of a query, a few at a time, and returns the number of all rows. It counts
// them only where the page does not show their number. A page that is not full shows it, unless
// the page begins after the last row.
func (k *Kind[T, V]) page(ctx context.Context, c *Call, q Query, show func(Record) error) (total int, err error) {
	n := 0
	for r, err := range Rows(ctx, c.Reader, q, rowsAtOnce) { // reads nothing when built-in records fill the page
		if err == nil {
			err = show(r)
		}
		if err != nil {
			return 0, err
		}
		n++
	}
	if n < q.Limit && (n > 0 || q.Offset == 0) {
		return q.Offset + n, nil
	}
	return c.Reader.Count(ctx, q)
}

// applyFilters adds the filters of the call to a query.
func (k *Kind[T, V]) applyFilters(ctx context.Context, c *Call, q *Query) error {
	if k.Archived {
		q.Statuses = []string{c.Query("status")}
	}
	for _, f := range k.filters() {
		v := c.Query(f.Name)
		switch {
		case v == "":
		case f.Apply != nil:
			if err := f.Apply(c, v, q); err != nil {
				return err
			}
		default:
			q.Index = append(q.Index, IndexEntry{Name: f.Index, Value: v})
		}
	}
	if k.Select != nil {
		if err := k.Select(ctx, c, q); err != nil {
			return err
		}
	}
	if len(q.Statuses) == 0 {
		q.Statuses = living
	}
	return nil
}

// get returns one record, with its version as the ETag.
func (k *Kind[T, V]) get(ctx context.Context, c *Call) (any, error) {
	r, err := k.findByPath(ctx, c, "read")
	if err != nil {
		return nil, err
	}
	c.etag = etag(r.Record)
	return k.View(ctx, c, *r, true)
}

func (k *Kind[T, V]) reader(a *Action[T]) func(context.Context, *Call) (any, error) {
	return func(ctx context.Context, c *Call) (any, error) {
		r, err := k.findByPath(ctx, c, a.scope())
		if err != nil {
			return nil, err
		}
		if !a.Watched {
			return a.Read(ctx, c, *r)
		}
		var response any
		err = c.engine.change(ctx, c, func(Tx) (err error) {
			c.Target(r.Record) // a transaction begins with an empty trail
			response, err = a.Read(ctx, c, *r)
			return err
		})
		return response, err
	}
}

func (k *Kind[T, V]) show(ctx context.Context, c *Call, rec Record, detail bool) (v V, err error) {
	r, err := Decode[T](rec)
	if err != nil {
		return v, err
	}
	return k.View(ctx, c, *r, detail)
}

// findByPath returns the record that the path names, if the caller may perform the action on it.
// fault.NotFound is for a record that does not exist, is archived, or cannot be read by the
// caller because it belongs to another organisation, workspace or user. fault.Forbidden is for
// one that the caller can read but may not act on.
func (k *Kind[T, V]) findByPath(ctx context.Context, c *Call, action string) (*Row[T], error) {
	if r := k.ofBuiltin(c, c.Path(k.Param)); r != nil {
		return r, k.rejectBuiltinChange(c, action, r)
	}
	name := c.Path(k.Param)
	if k.Suffix != "" && c.op.Method == http.MethodGet {
		name, _, _ = strings.Cut(name, k.Suffix)
	}
	rec, err := k.find(ctx, c, name)
	missing := fault.Has(err, fault.NotFound) || err == nil && rec.OrgID != c.OrgID
	switch {
	case missing, k.Scope == IsWorkspace && err == nil && !c.Principal.IsOrgWide() && !c.Principal.BelongsTo(rec.ID):
		return nil, k.missing()
	}
	if err != nil {
		return nil, err
	}
	r, err := Decode[T](rec)
	if err != nil {
		return nil, err
	}
	elsewhere := c.WorkspaceID != "" && r.WorkspaceID != "" && r.WorkspaceID != c.WorkspaceID
	if elsewhere || !slices.Contains(k.visible(c), r.Status) {
		return nil, k.missing()
	}
	if err := c.May(k.scopes(action, r), k.target(r)); err != nil {
		if c.May(k.scopes("read", r), k.target(r)) != nil {
			return nil, k.missing()
		}
		return nil, err
	}
	if k.Authorize != nil {
		switch err := k.Authorize(ctx, c, r); {
		case fault.Has(err, fault.NotFound):
			return nil, k.missing()
		case err != nil:
			return nil, err
		}
	}
	c.Target(r.Record)
	return r, nil
}

func (k *Kind[T, V]) missing() error {
	return fault.New(fault.NotFound, "the "+k.Title+" does not exist")
}

// find finds a record by the id, slug or name that a client uses for it.
func (k *Kind[T, V]) find(ctx context.Context, c *Call, name string) (Record, error) {
	if ident.ValidID(name) {
		rec, err := c.Reader.Find(ctx, k.Name, name)
		if k.ByID || !fault.Has(err, fault.NotFound) {
			return rec, err
		}
	}
	if k.ByID {
		return Record{}, fault.New(fault.InvalidParameter, "must be a UUID").WithParam(k.Param)
	}
	rec, err := FindByName(ctx, c.Reader, k.Name, access.Target{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID}, name)
	if !fault.Has(err, fault.NotFound) {
		return rec, err
	}
	return k.findCalled(ctx, c, name)
}

// findCalled finds an archived record by its former slug, when the call is to restore it, and
// any record by its name. A name that several records have is fault.InvalidParameter.
func (k *Kind[T, V]) findCalled(ctx context.Context, c *Call, name string) (Record, error) {
	all := Query{Kind: k.Name, OrgID: c.OrgID, Statuses: k.visible(c), Limit: maxCalled}
	if k.Scope == IsWorkspace && !c.Principal.IsOrgWide() {
		all.IDs = callerWorkspaceIDs(c.Principal)
	}
	if k.Restorable && slices.Contains(all.Statuses, Archived) {
		q := all
		q.Statuses, q.Index = []string{Archived}, []IndexEntry{{Name: slugEntry, Value: name}}
		if rows, err := c.Reader.List(ctx, q); err != nil || len(rows) > 0 {
			return k.only(rows, err)
		}
	}
	if k.Called == nil {
		return Record{}, fault.New(fault.NotFound, "")
	}
	names := k.Called(name, &all)
	rows, err := c.Reader.List(ctx, all)
	if err != nil {
		return Record{}, err
	}
	var found []Record
	for _, rec := range rows {
		r, err := Decode[T](rec)
		if err != nil {
			return Record{}, err
		}
		if slices.Contains(names(&r.Value), name) {
			found = append(found, rec)
		}
	}
	return k.only(found, nil)
}

// maxCalled is the maximum number of records of one name that are loaded; more than one match is
// an error.
const maxCalled = 100

// only returns the single record that was found.
func (k *Kind[T, V]) only(rows []Record, err error) (Record, error) {
	switch {
	case err != nil:
		return Record{}, err
	case len(rows) == 0:
		return Record{}, fault.New(fault.NotFound, "")
	case len(rows) > 1:
		return Record{}, fault.Newf(fault.InvalidParameter, "several %s are called so; name one by its id", plural(k.Title)).WithParam(k.Param)
	}
	return rows[0], nil
}

// visible returns the statuses that this call can see.
func (k *Kind[T, V]) visible(c *Call) []string {
	if k.Restorable && c.op.Method == http.MethodPut && c.Sent.Text("status") == Active {
		return append(LiveStatuses(), Archived)
	}
	if k.Archived && c.op.Method == http.MethodGet {
		// An action may have a status parameter with values that its record defines.
		if s := c.Query("status"); s == Active || s == Archived {
			return []string{s}
		}
	}
	return living
}

func etag(r Record) string { return `"` + strconv.FormatInt(r.Version, 10) + `"` }
