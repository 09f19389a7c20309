package credentials

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
)

// adjustmentsIn multiply list prices. catalog.ReadAdjustments checks the rules that a schema
// cannot express.
type adjustmentsIn struct {
	Multiplier map[string]any `json:"multiplier,omitempty" nullable:"true" doc:"Numbers from 0 to 1000 by price key, for example response_token; default applies to the others; image and additional_units are objects of numbers"`
}

// modelPricesIn are the prices of a model that differ from the list. catalog.ReadOverride checks
// the rules that a schema cannot express.
type modelPricesIn struct {
	Type       string                   `json:"type,omitempty" enum:"static"`
	PayAsYouGo map[string]*modelPriceIn `json:"pay_as_you_go,omitempty" nullable:"true" doc:"Prices by price key, for example request_token and response_token; other prices come from the price list"`
}

type modelPriceIn struct {
	Price float64 `json:"price" minimum:"0" maximum:"5000" doc:"US dollars per million tokens"`
}

// maxPricingBytes limits the price settings of one integration, or of one of its models.
const maxPricingBytes = 16 << 10

// checkAdjustments checks that the adjustments of an integration name prices that can be
// adjusted.
func checkAdjustments(sent resource.Sent, integration *credential.Integration) error {
	if !sent.Has("pricing_adjustments") {
		return nil
	}
	if len(integration.Adjustments) > maxPricingBytes {
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxPricingBytes).WithParam("pricing_adjustments")
	}
	_, err := catalog.ReadAdjustments(integration.Adjustments)
	return err
}

// readPrices returns the stored form of the model's own prices, nil for none.
func (m *modelIn) readPrices(path string) (json.RawMessage, error) {
	raw := m.Pricing.RawMessage
	if len(raw) > maxPricingBytes {
		return nil, fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxPricingBytes).WithParam(path + "pricing_config")
	}
	if string(raw) == "null" {
		return nil, nil
	}
	if _, err := catalog.ReadOverride("", raw); err != nil {
		f := fault.From(err)
		return nil, f.WithParam(path + f.Param)
	}
	return raw, nil
}
