package resource

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// builtin returns the built-in records of a page and their total number. They come before the
// stored records, so builtin reduces q to the rest of the page.
func (k *Kind[T, V]) builtin(c *Call, q *Query) (page []Row[T], all int) {
	if k.Builtin == nil || !slices.Contains(q.Statuses, Active) {
		return nil, 0
	}
	rows := slices.DeleteFunc(k.Builtin(c), func(r Row[T]) bool {
		return !strings.Contains(strings.ToLower(r.Name), strings.ToLower(q.Search))
	})
	from := min(q.Offset, len(rows))
	page = rows[from:min(from+q.Limit, len(rows))]
	q.Offset, q.Limit = max(0, q.Offset-len(rows)), q.Limit-len(page)
	return page, len(rows)
}

// ofBuiltin returns the built-in record with that id, nil if there is none.
func (k *Kind[T, V]) ofBuiltin(c *Call, id string) *Row[T] {
	if k.Builtin == nil {
		return nil
	}
	for _, r := range k.Builtin(c) {
		if r.ID == id {
			return &r
		}
	}
	return nil
}

// rejectBuiltinChange rejects changes to a built-in record. It checks permissions in the
// workspace of the call, because every workspace has the built-in records.
func (k *Kind[T, V]) rejectBuiltinChange(c *Call, action string, r *Row[T]) error {
	target := access.Target{OrgID: c.OrgID, WorkspaceID: cmp.Or(c.WorkspaceID, c.Principal.WorkspaceID)}
	if err := c.May(k.scopes(action, r), target); err != nil {
		return err
	}
	if c.op.Method != http.MethodGet {
		return fault.Newf(fault.Forbidden, "the %s %q is built in and cannot be changed or deleted", k.Title, r.Name)
	}
	return nil
}
