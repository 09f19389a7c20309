package guardrails

import (
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// Catalog contains the checks of the program. It is immutable and safe for concurrent use.
type Catalog struct {
	table *guardrail.Table
	byID  map[string]*check.Check
}

// NewCatalog returns a catalog of these checks, in this order.
func NewCatalog(lists ...[]check.Check) *Catalog {
	all := slices.Concat(lists...)
	c := &Catalog{byID: make(map[string]*check.Check, len(all))}
	definitions := make([]guardrail.Definition, len(all))
	for i := range all {
		known := &all[i]
		definitions[i] = known.Definition
		if known.New != nil {
			definitions[i].Verify = func(values map[string]any) error {
				_, err := known.New(check.Params(values), &check.Deps{})
				return err
			}
		}
		c.byID[known.ID] = known
	}
	c.table = guardrail.NewTable(definitions)
	return c
}

// Table returns the checks as the administration reads them.
func (c *Catalog) Table() *guardrail.Table { return c.table }

// Find returns a check by its id or an alias. A check that cannot run is not found.
func (c *Catalog) Find(id string) (*check.Check, bool) {
	d, ok := c.table.Find(id)
	if !ok || d.Unavailable != "" {
		return nil, false
	}
	return c.byID[d.ID], true
}
