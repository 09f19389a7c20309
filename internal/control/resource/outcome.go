package resource

import (
	"cmp"
	"context"

	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// Outcome contains what the access log reports about a call: the caller, the workspace and why
// the call was rejected. The server that runs the engine adds an empty Outcome to the context of
// a request with WithOutcome and reads it after the handler has returned.
type Outcome struct {
	KeyID       string // of the API key or token; empty for sessions and unidentified callers
	UserID      string // of the user of a session or of a login
	WorkspaceID string // of the call, otherwise of the key
	Fault       *fault.Error
}

type outcomeKey struct{}

// WithOutcome returns a context in which the engine fills o.
func WithOutcome(ctx context.Context, o *Outcome) context.Context {
	return context.WithValue(ctx, outcomeKey{}, o)
}

// OutcomeOf returns the outcome that WithOutcome added to a context; nil for none.
func OutcomeOf(ctx context.Context) *Outcome {
	o, _ := ctx.Value(outcomeKey{}).(*Outcome)
	return o
}

// outcome fills the Outcome of the context for a call; err is nil if the call succeeded.
func (c *Call) outcome(ctx context.Context, err error) {
	o := OutcomeOf(ctx)
	if o == nil {
		return
	}
	if err != nil {
		o.Fault = fault.From(err)
	}
	o.WorkspaceID = cmp.Or(c.trail.targetWorkspaceID, c.WorkspaceID)
	p := c.Principal
	if p == nil {
		return
	}
	o.WorkspaceID = cmp.Or(o.WorkspaceID, p.WorkspaceID)
	if p.Kind == access.BySession {
		o.UserID = p.UserID
	} else {
		o.KeyID = p.ID
	}
}
