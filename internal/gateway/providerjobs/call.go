package providerjobs

import (
	"time"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
)

// Call is a call of a provider that creates a job, reads one, or uploads a file for one. The
// request path fills it. Its values are read-only, and may refer to memory of the request: what
// outlives the request is copied.
type Call struct {
	RequestID, TraceID string
	ConfigID           string // slug of a saved config, "inline", or empty
	Key                *keys.Entry
	Header             wire.Header // of the caller
	Metadata           map[string]string
	Started            time.Time

	Endpoint   llm.Endpoint
	Method     string
	Path       string // escaped, below /v1
	LoggedPath string // the complete path, in the form that logs may show
	ID         string // id in the path; empty without one
	Document   []byte // JSON body with the changes of the target's config; nil without one
	Form       *multipartedit.Form

	Target      *routing.Target
	AccountSlug string              // saved provider that the caller named before the model
	Account     *credential.Account // nil for inline credentials
	Private     bool                // the caller sent a part of the credentials or of the address
	Provider    string              // "openai"
	Region      string              // "us-east-1"; empty without one
	Model       string              // that routes the call; empty without one
	PriceName   string              // of the model in price lists
	Overrides   *catalog.PriceOverrides
	Budgeted    bool // a cost budget applies
}

// body returns the request as a JSON object. A form becomes an object of its fields. The result is
// nil for a body that is not parsed.
func (c *Call) body() []byte {
	if c.Document != nil || c.Form == nil {
		return c.Document
	}
	w := jsonwriter.Writer{}
	w.Open('{')
	for i := range c.Form.Parts {
		if p := &c.Form.Parts[i]; !p.HasFileName {
			w.Str(p.Name, string(p.Value))
		}
	}
	w.Close('}')
	return w.B
}

// Plan is what a call that creates a job requests, with its maximum usage and cost. Estimate
// completes it.
type Plan struct {
	Kind   providerjob.Kind
	Input  *providerjob.Input // of a batch, once it is counted
	Units  []providerjob.Unit // of a video
	Videos int64              // number of requested videos

	Model       string            // that the call or the body names
	PriceName   string            // of the model in price lists
	RateCard    *catalog.RateCard // of the model
	MaxUsage    catalog.Limits
	MaxCostNano int64
}
