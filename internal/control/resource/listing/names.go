package listing

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// maxIDs is the maximum number of ids that a list may be narrowed to.
const maxIDs = 100

// NamesFilter narrows a list to some records. FilterByNames applies it, because it must look
// them up.
func NamesFilter(param string) resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: param, Doc: "Ids or slugs separated by commas, at most 100"},
		Apply: func(*resource.Call, string, *resource.Query) error { return nil },
	}
}

// FilterByNames narrows a list to the requested ids and slugs. Records that do not exist or that
// the caller may not see are left out.
func FilterByNames(param, kind string) func(ctx context.Context, c *resource.Call, q *resource.Query) error {
	return func(ctx context.Context, c *resource.Call, q *resource.Query) error {
		requested := c.Query(param)
		if requested == "" {
			return nil
		}
		names := strings.FieldsFunc(requested, func(r rune) bool { return r == ',' || r == ' ' })
		if len(names) > maxIDs {
			return fault.Newf(fault.InvalidParameter, "must not have more than %d ids", maxIDs).WithParam(param)
		}
		q.IDs = []string{}
		for _, name := range names {
			r, err := resource.FindByName(ctx, c.Reader, kind, resource.TargetOf(c, c.WorkspaceID), name)
			if err != nil && !fault.Has(err, fault.NotFound) {
				return err
			}
			if err == nil && !slices.Contains(q.IDs, r.ID) {
				q.IDs = append(q.IDs, r.ID)
			}
		}
		return nil
	}
}
