package metering

import (
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

// Subject is whom a call is charged to and by which limits. The gateway fills it for each
// attempt, from one snapshot of the control plane. It refers to the memory of the request.
type Subject struct {
	Call      quota.Call // the properties that policies match; also the caller and target of the ledger entry
	RequestID string
	TraceID   string // of the caller; empty if it equals RequestID
	ReplayOf  string // id of the log that the call replays; empty for a client's call

	Terms       *catalog.PriceOverrides // of the saved provider; nil: list prices apply
	Integration *quota.Plan             // limits of the provider's integration in the workspace; never nil
	Provider    *quota.Plan             // limits of the saved provider; never nil
	Policies    *quota.Policies
}
