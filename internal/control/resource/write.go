package resource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// maxMoves is how often a change is retried because another one was written between its read and
// its write. Each conflict means that another change has succeeded, so only heavy contention on
// one record reaches the limit.
const maxMoves = 50

// change runs f in a transaction that also writes the audit row of the call, and wakes the
// copies after the commit. f may run more than once. Of two concurrent changes, the later one is
// applied on top of the earlier one, unless its caller requires a version (Unchanged).
func (e *Engine) change(ctx context.Context, c *Call, f func(Tx) error) error {
	defer func() { c.Reader = e.Store }()
	try := func() error {
		return e.Store.InTx(ctx, func(tx Tx) error {
			c.Reader, c.trail, c.shared = tx, trail{}, nil
			if err := f(tx); err != nil {
				return err
			}
			return e.audit(ctx, tx, c, 200)
		})
	}
	err := try()
	for n := 1; n < maxMoves && errors.Is(err, ErrMoved); n++ {
		err = try()
	}
	if err == nil && e.Wake != nil {
		e.Wake()
	}
	return err
}

// Change runs f in a transaction, for operations without a kind. The transaction also writes the
// audit row of the call; followers of the change feed are woken after the commit. f may run more
// than once; c.Reader reads what it wrote.
func (c *Call) Change(ctx context.Context, f func(Tx) error) error { return c.engine.change(ctx, c, f) }

// recordWriter changes the records of a kind: each method is one operation, with the checks and the
// audit row that belong to it.
type recordWriter[T, V any] struct{ *Kind[T, V] }

// create creates a record.
func (w recordWriter[T, V]) create(ctx context.Context, c *Call) (any, error) {
	var ch *Edit[T]
	err := c.engine.change(ctx, c, func(tx Tx) error {
		r := &Row[T]{Record: Record{
			Kind: w.Name, ID: ident.NewID(), OrgID: c.OrgID, Status: Active, Version: 1, Created: c.Now, Updated: c.Now,
		}}
		if err := w.locate(ctx, c, r); err != nil {
			return err
		}
		if err := c.May(w.scopes("create", r), w.target(r)); err != nil {
			return err
		}
		ch = &Edit[T]{New: r, Sent: c.Sent}
		if err := w.buildBody(ctx, c, ch); err != nil {
			return err
		}
		rec, err := w.stored(ctx, c, r)
		if err != nil {
			return err
		}
		if err := w.checkRecordLimit(ctx, tx, c, r); err != nil {
			return err
		}
		if err := tx.Insert(ctx, rec); err != nil {
			return w.conflictError(err, r.Slug)
		}
		c.Target(rec)
		return w.after(ctx, tx, c, ch)
	})
	if err != nil {
		return nil, err
	}
	if w.Receipt != nil {
		return w.Receipt.Make(ctx, c, ch)
	}
	return Receipted{ID: ch.New.ID, Slug: ch.New.Slug, Object: w.Object}, nil
}

// checkRecordLimit fails if the maximum number of records is reached: of the workspace for
// records in a workspace, else of the organisation. For a kind that can be in either, the records of
// the organisation are created only by its administrators and have no limit. Concurrent calls
// may exceed the limit.
func (w recordWriter[T, V]) checkRecordLimit(ctx context.Context, from Reader, c *Call, r *Row[T]) error {
	limit := c.engine.MaxRecords
	if limit == 0 || w.Scope == Located && r.WorkspaceID == "" {
		return nil
	}
	n, err := from.Count(ctx, Query{Kind: w.Name, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, Statuses: living})
	if err == nil && n >= limit {
		err = fault.Newf(fault.InvalidRequest, "the maximum of %d %s is reached (RECORDS_PER_KIND); delete one first", n, plural(w.Title))
	}
	return err
}

// locate sets where a new record belongs. A record in a workspace needs a call that names one.
func (w recordWriter[T, V]) locate(ctx context.Context, c *Call, r *Row[T]) error {
	switch w.Scope {
	case InWorkspace:
		r.WorkspaceID = c.WorkspaceID
		return c.RequireWorkspace()
	case Located:
		return w.Locate(ctx, c, r)
	case InOrganisation, IsWorkspace: // not in a workspace
	}
	return nil
}

// update applies the fields that were sent to a record.
func (w recordWriter[T, V]) update(ctx context.Context, c *Call) (any, error) {
	if !c.changes() {
		return nil, fault.New(fault.InvalidRequest, "the body must contain at least one field to change")
	}
	if c.ChangesNothing() {
		return w.leave(ctx, c)
	}
	ch, err := w.rewrite(ctx, c, "update", func(tx Tx, ch *Edit[T]) error {
		if err := w.compareEchoes(ctx, c, ch.Old); err != nil {
			return err
		}
		if s := c.Sent.Text("status"); s != "" {
			ch.New.Status = s
		}
		if ch.Old.Status == Archived {
			if err := w.checkRecordLimit(ctx, tx, c, ch.New); err != nil {
				return err
			}
		}
		return w.buildBody(ctx, c, ch)
	})
	if err != nil {
		return nil, err
	}
	return w.changed(ctx, c, ch)
}

// leave handles an update that changes nothing: the version and times of the record stay the
// same.
func (w recordWriter[T, V]) leave(ctx context.Context, c *Call) (any, error) {
	var ch *Edit[T]
	err := c.engine.change(ctx, c, func(Tx) error {
		r, err := w.findByPath(ctx, c, "update")
		if err != nil {
			return err
		}
		if err := c.Unchanged(r.Record); err != nil {
			return err
		}
		ch = &Edit[T]{Old: r, New: r, Sent: c.Sent}
		return w.compareEchoes(ctx, c, r)
	})
	if err != nil {
		return nil, err
	}
	return w.changed(ctx, c, ch)
}

// archive deletes a record from the view of clients: it stays in the store, but is not found any
// more, and its slug is free.
func (w recordWriter[T, V]) archive(ctx context.Context, c *Call) (any, error) {
	_, err := w.rewrite(ctx, c, "delete", func(_ Tx, ch *Edit[T]) error {
		ch.New.Status = Archived
		if w.CanArchive == nil {
			return nil
		}
		return w.CanArchive(ctx, c, ch.Old)
	})
	return Empty{}, err
}

func (w recordWriter[T, V]) actor(a *Action[T]) func(context.Context, *Call) (any, error) {
	return func(ctx context.Context, c *Call) (response any, err error) {
		_, err = w.rewrite(ctx, c, a.scope(), func(tx Tx, ch *Edit[T]) (err error) {
			response, err = a.Run(ctx, tx, c, ch)
			return err
		})
		return response, err
	}
}

// rewrite loads the record that the path names, runs edit on a copy of it and writes the copy as
// the next version.
func (w recordWriter[T, V]) rewrite(ctx context.Context, c *Call, action string, edit func(Tx, *Edit[T]) error) (*Edit[T], error) {
	var ch *Edit[T]
	err := c.engine.change(ctx, c, func(tx Tx) error {
		old, err := w.findByPath(ctx, c, action)
		if err != nil {
			return err
		}
		if err := c.Unchanged(old.Record); err != nil {
			return err
		}
		next, err := Decode[T](old.Record) // a copy that shares no memory with old
		if err != nil {
			return err
		}
		next.Updated = c.Now
		ch = &Edit[T]{Old: old, New: next, Sent: c.Sent}
		if err := edit(tx, ch); err != nil {
			return err
		}
		if next.Status == Archived {
			if err := c.engine.unused(ctx, tx, old.Record); err != nil {
				return err
			}
		}
		rec, err := w.stored(ctx, c, next)
		if err != nil {
			return err
		}
		if err := tx.Update(ctx, rec); err != nil {
			if old.Status == Archived && !errors.Is(err, ErrMoved) { // another record has taken its slug
				return w.conflictError(err, next.Slug)
			}
			return err
		}
		next.Version++
		return w.after(ctx, tx, c, ch)
	})
	return ch, err
}

// Unchanged fails with fault.Conflict when If-Match of the request names another version than
// that of the record about to be changed.
func (c *Call) Unchanged(r Record) error {
	if expected := c.r.Header.Get("If-Match"); expected != "" && expected != "*" && expected != etag(r) {
		return fault.New(fault.Conflict, "the record was changed since you read it; read it again").WithParam("If-Match")
	}
	return nil
}

// Version sets the ETag of the response to the version of a record.
func (h *responseHeader) Version(r Record) { h.etag = etag(r) }

// scopeFields are the fields by which a body names its workspace and organisation. They are read
// earlier, and are not part of a record.
var scopeFields = []string{"workspace_id", "organisation_id"}

// changes reports whether a field of the record was sent, even one that changes nothing: a null,
// or an unknown field that is ignored.
func (c *Call) changes() bool {
	for name := range c.Sent {
		if isContent(name) {
			return true
		}
	}
	return c.idle
}

// buildBody builds the new body from the fields that were sent, runs the kind's Prepare, and
// validates the result.
func (w recordWriter[T, V]) buildBody(ctx context.Context, c *Call, ch *Edit[T]) error {
	if err := w.mergeSent(ch); err != nil {
		return err
	}
	if ch.Old == nil && !w.ByID {
		if err := w.name(ch); err != nil {
			return err
		}
	}
	if w.Prepare != nil {
		if err := w.Prepare(ctx, c, ch); err != nil {
			return err
		}
	}
	if v, ok := any(&ch.New.Value).(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// mergeSent merges the fields that were sent into the stored body.
func (w recordWriter[T, V]) mergeSent(ch *Edit[T]) error {
	fields := make(Sent, len(ch.Sent))
	for name, v := range ch.Sent {
		if !slices.Contains(w.PreparedFields, name) && !slices.Contains(scopeFields, name) && name != "slug" && name != "status" {
			fields[name] = v
		}
	}
	value, err := Overlay(ch.New.Value, fields)
	if err != nil {
		return err
	}
	ch.New.Value = value
	if _, sent := ch.Sent["name"]; sent {
		ch.New.Name = ch.Sent.Text("name")
	}
	return nil
}

// name sets the slug of a new record: the one that was sent, or a generated one.
func (w recordWriter[T, V]) name(ch *Edit[T]) error {
	slug := ch.Sent.Text("slug")
	if slug == "" {
		n := w.SlugFrom
		if n == 0 {
			n = 20
		}
		slug = newSlug(w.Slug, ch.New.Name, n)
	}
	if !ident.ValidSlug(slug) {
		return fault.Newf(fault.InvalidParameter, "must start with a letter or digit, contain only letters, digits, dots, - and _, and have at most %d characters", ident.SlugMax).WithParam("slug")
	}
	if strings.EqualFold(slug, selfSlug) {
		return fault.New(fault.InvalidParameter, "must not be self, which is reserved in paths; choose another slug").WithParam("slug")
	}
	ch.New.Slug = slug
	return nil
}

// selfSlug is the name of the caller's record in paths: "/organisations/self".
const selfSlug = "self"

func (w recordWriter[T, V]) after(ctx context.Context, tx Tx, c *Call, ch *Edit[T]) error {
	if w.After == nil {
		return nil
	}
	return w.After(ctx, tx, c, ch)
}

// conflictError names the slug in the text of a conflict error.
func (k *Kind[T, V]) conflictError(err error, slug string) error {
	if fault.Has(err, fault.Conflict) && slug != "" {
		return fault.Newf(fault.Conflict, "another %s has the slug %q", k.Title, slug).WithParam("slug").WithCause(err)
	}
	return err
}
