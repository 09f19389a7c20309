package configs

import (
	"context"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// Trials runs guardrails outside of calls. It is safe for concurrent use.
type Trials interface {
	// Applies reports whether guardrails run on a phase of the calls of an endpoint.
	Applies(ep llm.Endpoint, path string, p guardrail.Phase) bool
	// Prepare compiles a phase of a guardrail. With enforced it fails as a default of a workspace or
	// organisation does.
	Prepare(g *guardrail.Saved, p guardrail.Phase, enforced bool) trial.Judge
}

// TrialIn contains the common fields of the bodies of tests and dry runs.
type TrialIn struct {
	WorkspaceID string      `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	Checks      []checkIn   `json:"checks,omitempty" nullable:"false" minItems:"1" maxItems:"50" doc:"Checks in place of those of the saved guardrail; a secret may be sent back as the mask that was returned"`
	Actions     actionsSent `json:"actions,omitempty" doc:"Actions in place of those of the saved guardrail"`
	Enforced    bool        `json:"enforced,omitempty" doc:"Whether the guardrail runs as a default of a workspace or of the organisation: with deny, a check that cannot judge then denies the call"`
	Paid        bool        `json:"paid,omitempty" doc:"Whether checks that cost money run; they are skipped otherwise. No budget counts what they cost. gateway.llmJudge cannot run"`
}

// tried is a guardrail that is being tested.
type tried struct {
	guardrail.Saved
	enforced bool
	skipped  []string // ids of paid checks that do not run
}

// draftSlug is the id of a guardrail in results that is not saved.
const draftSlug = "draft"

// tried returns the guardrail of a body: the saved one, nil for none, with the checks and actions that
// were sent in place of its own.
func (k guardrails) tried(c *resource.Call, r *resource.Row[guardrail.Guardrail]) (*tried, error) {
	if k.Trials == nil {
		return nil, fault.New(fault.NotSupported, "this gateway runs no guardrails; set GUARDRAILS_ENABLED to ON")
	}
	t := &tried{Saved: guardrail.Saved{Slug: draftSlug}}
	var stored []byte
	if r != nil {
		var err error
		if stored, err = r.Value.Text(k.Box, r.ID); err != nil {
			return nil, fmt.Errorf("open guardrail %s: %w", r.ID, err)
		}
		t.ID, t.Slug, t.Actions = r.ID, r.ShownSlug(), r.Value.Actions
	}
	if err := k.takeDraft(c.Sent, t, r, stored); err != nil {
		return nil, err
	}
	if err := c.Sent.Into("enforced", &t.enforced); err != nil {
		return nil, err
	}
	var paid bool
	if err := c.Sent.Into("paid", &paid); err != nil {
		return nil, err
	}
	if !paid {
		t.Checks, t.skipped = trial.WithoutPaid(k.Checks, t.Checks)
	}
	return t, nil
}

// takeDraft sets the checks and actions of a guardrail that is tested. A guardrail with all of its
// saved ones has their version.
func (k guardrails) takeDraft(sent resource.Sent, t *tried, r *resource.Row[guardrail.Guardrail], stored []byte) (err error) {
	text := stored
	switch {
	case sent.Has("checks"):
		if text, err = k.readChecks(sent["checks"], stored); err != nil {
			return err
		}
	case r == nil:
		return fault.New(fault.InvalidParameter, "is required without a saved guardrail").WithParam("checks")
	}
	if t.Checks, err = k.Checks.Read(text); err != nil {
		return err
	}
	if sent.Has("actions") || r == nil {
		raw := sent["actions"]
		if len(raw) == 0 || string(raw) == "null" {
			raw = []byte("{}")
		}
		if t.Actions, err = guardrail.ReadActions(raw); err != nil {
			return err
		}
	}
	if r != nil && !sent.Has("checks") && !sent.Has("actions") {
		t.VersionID = guardrail.VersionID(r.ID, r.Version)
	}
	return nil
}

// testable returns an error if no check of the guardrail runs in a phase. Paid checks that are skipped
// count.
func (k guardrails) testable(t *tried, p guardrail.Phase) error {
	if len(t.skipped) == 0 && len(trial.Runs(k.Checks, t.Checks, p)) == 0 {
		return fault.Newf(fault.InvalidParameter, "no enabled check of the guardrail runs on the %s of a call; send the other phase, or other checks", p).WithParam("phase")
	}
	return nil
}

// findTried returns the saved guardrail that a body names. Callers must be able to read it, because
// results show what its checks look for.
func (k guardrails) findTried(ctx context.Context, c *resource.Call, name string) (*resource.Row[guardrail.Guardrail], error) {
	found, err := c.Refer(ctx, guardrail.Kind, c.WorkspaceID, name, "guardrail")
	if err != nil {
		return nil, err
	}
	r, err := resource.Decode[guardrail.Guardrail](*found)
	if err != nil {
		return nil, err
	}
	if c.May(guardrailScopes("read", r), resource.TargetOf(c, r.WorkspaceID)) != nil {
		return nil, fault.New(fault.ReferenceMissing, "the workspace does not have this guardrail").WithParam("guardrail")
	}
	return r, nil
}
