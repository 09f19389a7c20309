package defaults

import (
	"context"
	"fmt"
	"strconv"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
)

// GuardrailList is a field that names guardrails.
type GuardrailList struct {
	Field string
	Names []string
}

// CheckGuardrails rejects names of guardrails that the organisation does not have.
func CheckGuardrails(ctx context.Context, c *resource.Call, lists []GuardrailList) error {
	for _, l := range lists {
		for i, name := range l.Names {
			if _, err := c.Refer(ctx, guardrail.Kind, "", name, l.Field+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// GuardrailRefs returns the reference of a record to the guardrails that its lists name, in
// its workspace or in the organisation.
func GuardrailRefs[T any](lists func(*resource.Row[T]) (workspaceID string, byField map[string][]string)) resource.Ref[T] {
	return resource.Ref[T]{Kind: guardrail.Kind, All: func(ctx context.Context, c *resource.Call, r *resource.Row[T]) ([]*resource.Record, error) {
		workspaceID, byField := lists(r)
		var found []*resource.Record
		for field, names := range byField {
			for i, name := range names {
				g, err := c.Refer(ctx, guardrail.Kind, workspaceID, name, fmt.Sprintf("%s[%d]", field, i))
				if err != nil {
					return nil, err
				}
				found = append(found, g)
			}
		}
		return found, nil
	}}
}
