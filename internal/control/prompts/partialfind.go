package prompts

import (
	"context"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
)

// partialsOf returns a source of the partials of a workspace in the store.
func partialsOf(ctx context.Context, c *resource.Call, workspaceID string) prompt.Source {
	return prompt.SourceFunc(func(ref prompt.PartialRef) (*prompt.Template, error) {
		row, number, err := findPartial(ctx, c, workspaceID, ref)
		if err != nil {
			return nil, err
		}
		version, err := findVersion[prompt.PartialVersion](ctx, c.Reader, prompt.PartialVersionKind, row.ID, number)
		if err != nil {
			return nil, err
		}
		return version.Value.Compile()
	})
}

// findPartial finds the partial that a tag names, and the number of the selected version. If
// there is none, it returns fault.InvalidParameter.
func findPartial(ctx context.Context, c *resource.Call, workspaceID string, ref prompt.PartialRef) (*resource.Row[prompt.Partial], int, error) {
	rec, err := c.Refer(ctx, prompt.PartialKind, workspaceID, ref.Name, "string")
	if fault.Has(err, fault.ReferenceMissing) {
		return nil, 0, prompt.UnknownPartial(ref)
	}
	if err != nil {
		return nil, 0, err
	}
	row, err := resource.Decode[prompt.Partial](*rec)
	if err != nil {
		return nil, 0, err
	}
	number := row.Value.Pick(ref.Version)
	if number == 0 {
		return nil, 0, prompt.UnknownPartial(ref)
	}
	return row, number, nil
}

// findPartials finds the ids of the partials that a template names.
func findPartials(ctx context.Context, c *resource.Call, workspaceID string, refs []prompt.PartialRef) ([]string, error) {
	var ids []string
	for _, ref := range refs {
		row, _, err := findPartial(ctx, c, workspaceID, ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, row.ID) {
			ids = append(ids, row.ID)
		}
	}
	return ids, nil
}

// known returns records that were already looked up when their references were written.
func known(ids []string) []*resource.Record {
	records := make([]*resource.Record, len(ids))
	for i, id := range ids {
		records[i] = &resource.Record{ID: id}
	}
	return records
}
