package resource

import (
	"cmp"
	"context"

	"sluice/internal/access"
	"sluice/internal/fault"
)

// Outcome is what the engine knows of a call that its access line says: who called, where,
// and why the call was refused. Who serves the engine puts an empty one into the context of
// a request with WithOutcome, and reads it when the handler has returned.
type Outcome struct {
	KeyID       string // of the API key or token; empty for sessions and strangers
	UserID      string // of the user of a session; of a login, whom it names
	WorkspaceID string // that the call was about, else that of the key
	Fault       *fault.Error
}

type outcomeKey struct{}

// WithOutcome is a context in which the engine fills o.
func WithOutcome(ctx context.Context, o *Outcome) context.Context {
	return context.WithValue(ctx, outcomeKey{}, o)
}

// OutcomeOf is the outcome that WithOutcome put into a context; nil for none.
func OutcomeOf(ctx context.Context) *Outcome {
	o, _ := ctx.Value(outcomeKey{}).(*Outcome)
	return o
}

// outcome fills that of the context with what is known of a call; err is nil for one that
// was not refused.
func (c *Call) outcome(ctx context.Context, err error) {
	o := OutcomeOf(ctx)
	if o == nil {
		return
	}
	if err != nil {
		o.Fault = fault.From(err)
	}
	o.WorkspaceID = cmp.Or(c.trail.workspaceID, c.WorkspaceID)
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
