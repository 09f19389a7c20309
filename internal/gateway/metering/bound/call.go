// Package bound computes what one model call can use at most, before it is sent: tokens of input
// and output, images, searches, pages and calls of provider tools. Budgets reserve the cost of
// that maximum. The package also knows which calls are free, and which ones the gateway cannot
// meter. It reads requests only; start reading at Call.Max.
package bound

import (
	"cmp"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// Call describes one call of a provider as far as its maximum usage depends on it. It refers to
// the memory of the request and belongs to the goroutine of its attempt. The gateway describes
// the call again each time, because later steps of an attempt change it.
type Call struct {
	call.Params
	Endpoint    llm.Endpoint
	Path        string        // of the caller, escaped, below /v1
	Request     *wire.Request // of the caller; its method, query and header are read
	WorkspaceID string

	Spec        *provider.Spec
	Plan        *provider.Plan  // nil until the call is planned
	Values      provider.Values // of the credential: region and custom host
	CustomHost  string          // from the caller's headers; empty without one
	Header      wire.Header     // to the provider, without the credential
	Model       string          // as the call names it; empty if it names none
	ModelInPath bool            // the provider reads the model from the path only

	Form         *multipartedit.Form // the caller's form; nil for other bodies
	Unread       bool                // there is a body, but it is not parsed
	Nitro        bool                // the caller requests that it is not parsed (x-gateway-nitro-mode)
	BodyBytes    int64               // size of the body to send; negative if it is unknown
	Conversation []byte              // body with the earlier turns that the gateway stores; nil without them
	Restored     []byte              // body after stored items were inserted; nil if there were none
	Continued    int64               // bytes that a continued stream adds to the conversation

	Segment      bool  // the call transcribes a part of a conversation
	SegmentMilli int64 // duration of that part, in milliseconds
}

// FullBody returns the request body, including the earlier turns that the gateway stores. It must
// not be called when there is no JSON body.
func (c *Call) FullBody() []byte {
	switch {
	case c.Conversation != nil:
		return c.Conversation
	case c.Restored != nil:
		return c.Restored
	}
	return c.Doc.Source()
}

// Region returns the region in which the provider executes the call, where the price depends on
// it: "us-east-1", "europe-west4". It is empty for other providers.
func (c *Call) Region() string {
	return cmp.Or(c.Values["aws_region"], c.Values["vertex_region"])
}

// PriceName returns the name of the model in price lists. For an inference profile it is the
// underlying model. For a call without a model it is the provider's default, or empty.
func (c *Call) PriceName() string {
	named := c.Model
	if c.Plan != nil && !c.ModelInPath {
		named = cmp.Or(c.Plan.Underlying, c.Plan.Model, c.Model)
	}
	if named == "" {
		return c.defaultModel()
	}
	return named
}

// host returns the base URL that replaces the provider's; empty for none.
func (c *Call) host() string {
	return cmp.Or(c.CustomHost, c.Target.CustomHost, c.Values["custom_host"])
}
