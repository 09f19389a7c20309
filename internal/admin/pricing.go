package admin

import (
	"sluice/internal/catalog"
	"sluice/internal/credential"
	"sluice/internal/fault"
	"sluice/internal/resource"
)

// adjustmentsIn multiply list prices. What a schema cannot say is in
// catalog.ReadAdjustments.
type adjustmentsIn struct {
	Multiplier map[string]any `json:"multiplier,omitempty" nullable:"true" doc:"numbers from 0 to 1000 by the key of a price, for example response_token; default for the others; image and additional_units are objects of numbers"`
}

// maxPricingBytes bounds what one integration, or one of its models, says of prices.
const maxPricingBytes = 16 << 10

// checkAdjustments holds the adjustments of an integration against what can be adjusted.
func checkAdjustments(sent resource.Sent, in *credential.Integration) error {
	if !sent.Has("pricing_adjustments") {
		return nil
	}
	if len(in.Adjustments) > maxPricingBytes {
		return fault.Newf(fault.InvalidParameter, "the adjustments have at most %d bytes", maxPricingBytes).At("pricing_adjustments")
	}
	_, err := catalog.ReadAdjustments(in.Adjustments)
	return err
}
