package live

import (
	"fmt"

	"sluice/internal/domain/credential"
	"sluice/internal/limits/catalog"
)

// Agreement returns the prices of an account that differ from the list; nil if there are none,
// and for a nil account.
func (s *Snapshot) Agreement(a *credential.Account) *catalog.PriceOverrides {
	switch {
	case a == nil:
		return nil
	case a.Free:
		return catalog.Free()
	}
	return s.agreements[a.IntegrationID]
}

// agreementOf returns the prices of an integration; nil if it sets none.
func agreementOf(integ *credential.Integration) (*catalog.PriceOverrides, error) {
	if integ.Pricing == credential.PricingFree {
		return catalog.Free(), nil
	}
	by, err := catalog.ReadAdjustments(integ.Adjustments)
	if err != nil {
		return nil, fmt.Errorf("read pricing adjustments: %w", err)
	}
	models := make(map[string]catalog.Override)
	for i := range integ.Models {
		m := &integ.Models[i]
		if m.Base == "" && len(m.Pricing) == 0 {
			continue
		}
		o, err := catalog.ReadOverride(m.Base, m.Pricing)
		if err != nil {
			return nil, fmt.Errorf("read prices of %s: %w", m.Slug, err)
		}
		models[m.Slug] = o
	}
	if len(models) == 0 && len(integ.Adjustments) == 0 {
		return nil, nil
	}
	return catalog.NewAgreement(by, models), nil
}
