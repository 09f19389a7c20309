package configs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

// prepareGuardrail validates what was sent, and seals the checks.
func (k guardrails) prepareGuardrail(_ context.Context, c *resource.Call, ch *resource.Edit[guardrail.Guardrail]) error {
	g := &ch.New.Value
	if ch.Old == nil {
		g.OwnerID = c.Principal.ID
	} else {
		g.UpdatedBy = c.Principal.ID
	}
	if raw, sent := ch.Sent["actions"]; sent {
		actions, err := guardrail.ReadActions(raw)
		if err != nil {
			return err
		}
		g.Actions, g.SentActions = actions, withoutSpace(raw)
	}
	if raw, sent := ch.Sent["checks"]; sent {
		return k.prepareChecks(ch, withoutSpace(raw))
	}
	return nil
}

// prepareChecks validates checks that were sent, and seals them.
func (k guardrails) prepareChecks(ch *resource.Edit[guardrail.Guardrail], sent []byte) error {
	var stored []byte
	if ch.Old != nil {
		var err error
		if stored, err = ch.Old.Value.Text(k.Box, ch.Old.ID); err != nil {
			return fmt.Errorf("open guardrail %s: %w", ch.Old.ID, err)
		}
	}
	text, err := k.readChecks(sent, stored)
	if err != nil {
		return err
	}
	return ch.New.Value.Seal(k.Box, ch.New.ID, text)
}

// readChecks returns checks that were sent, with the stored secrets in place of their masks. It
// rejects checks that cannot be saved.
func (k guardrails) readChecks(sent, stored []byte) ([]byte, error) {
	text, misfits := unmask(sent, stored)
	if len(misfits) > 0 {
		return nil, fault.New(fault.InvalidParameter, "the value "+misfits[0].reason).WithParam("checks" + misfits[0].path)
	}
	checks, err := k.Checks.Read(text)
	if err != nil {
		return nil, err
	}
	for i := range checks {
		if err := k.Checks.CheckURLs(&checks[i], fmt.Sprintf("checks[%d].parameters", i), k.Guard.CheckURL); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// configGuardrails returns the saved guardrails that the targets of a config name. A guardrail
// that a config names cannot be deleted.
func (k guardrails) configGuardrails(ctx context.Context, c *resource.Call, r *resource.Row[routing.Saved]) ([]*resource.Record, error) {
	text, err := configs(k).storedConfig(r)
	if err != nil {
		return nil, err
	}
	if !mayName(text) {
		return nil, nil
	}
	doc, err := routing.ParseStored(text, k.Limits)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*resource.Record)
	for _, t := range doc.Leaves() {
		for _, h := range append(t.Before[:len(t.Before):len(t.Before)], t.After...) {
			if !h.Saved() || known[h.ID] != nil {
				continue
			}
			if known[h.ID], err = c.Refer(ctx, guardrail.Kind, r.WorkspaceID, h.ID, h.IDPath); err != nil {
				return nil, missingGuardrail(err, h.ID)
			}
		}
	}
	found := make([]*resource.Record, 0, len(known))
	for _, g := range known {
		found = append(found, g)
	}
	return found, nil
}

// mayName reports whether a config may name a guardrail. It saves parsing most configs a second
// time.
func mayName(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, keyword := range []string{"guardrail", "mutator", "hook"} {
		if bytes.Contains(lower, []byte(keyword)) {
			return true
		}
	}
	return false
}

// missingGuardrail returns an error that names the missing guardrail of a config.
func missingGuardrail(err error, name string) error {
	if !fault.Has(err, fault.ReferenceMissing) {
		return err
	}
	shown, _ := json.Marshal(name[:min(len(name), 64)])
	return fault.Newf(fault.ReferenceMissing, "the workspace and the organisation do not have the guardrail %s", shown).WithParam(fault.From(err).Param)
}

// canArchiveOrgGuardrail rejects deletion of a guardrail that runs on every request of the
// organisation.
func canArchiveOrgGuardrail(ctx context.Context, c *resource.Call, r *resource.Row[guardrail.Guardrail]) error {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(org.Value.Defaults.InputGuardrails, org.Value.Defaults.OutputGuardrails) {
		if name == r.ID || name == r.Slug {
			return fault.New(fault.Conflict, "still a default of the organisation; remove it from the defaults first")
		}
	}
	return nil
}
