package defaults

import (
	"context"
	"strconv"

	"sluice/internal/guard"
	"sluice/internal/resource"
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
			if _, err := c.Refer(ctx, guard.Kind, "", name, l.Field+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	}
	return nil
}
