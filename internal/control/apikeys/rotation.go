package apikeys

import (
	"context"
	"net/http"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
)

// rotation gives a key a new value; the old one stays valid during the transition. The caller
// receives the new value, so it must already have all rights of the key.
// Source: contract/identity-and-governance.md section 5.
func (k apiKeys) rotation() resource.Action[keys.Key] {
	return resource.Action[keys.Key]{
		Name: "rotate", Method: http.MethodPost, Path: "/rotate", ID: "rotateApiKey", Summary: "Rotate the value of an API key",
		Body: rotateIn{}, Optional: true, Response: rotateReceipt{}, Run: k.rotate,
	}
}

type rotateIn struct {
	Period      int64  `json:"key_transition_period_ms,omitempty" minimum:"1800000" maximum:"31536000000" default:"1800000" doc:"Milliseconds for which the old value stays valid"`
	WorkspaceID string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

type rotateReceipt struct {
	ID      string         `json:"id" format:"uuid"`
	Key     string         `json:"key" doc:"New raw key; returned only once"`
	Expires resource.Stamp `json:"key_transition_expires_at" doc:"Time when the old value expires"`
}

func (k apiKeys) rotate(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[keys.Key]) (any, error) {
	if err := mayHave(c, ch.Old); err != nil {
		return nil, err
	}
	old := ch.Old.Value
	if p := old.Previous; p != nil && p.Until != nil && c.Now.Before(*p.Until) {
		return nil, fault.New(fault.Conflict, "the transition of the last rotation has not ended yet")
	}
	period := old.Rotation.Transition()
	if c.Sent.Has("key_transition_period_ms") {
		var ms int64
		if err := c.Sent.Into("key_transition_period_ms", &ms); err != nil {
			return nil, err
		}
		period = time.Duration(ms) * time.Millisecond
	}
	if err := old.Rotation.CheckTransition(period, "key_transition_period_ms"); err != nil {
		return nil, err
	}
	until, err := k.rotateSecret(ch, c.Now, period)
	if err != nil {
		return nil, err
	}
	for name, value := range rotationNotes(ch, "manual") {
		c.Note(name, value)
	}
	return rotateReceipt{ch.New.ID, ch.Raw.Reveal(), resource.Stamp(until)}, nil
}

// rotateSecret gives a key a new value now and retains the old one for the transition. It
// returns the end of the transition.
func (k apiKeys) rotateSecret(ch *resource.Edit[keys.Key], now time.Time, transition time.Duration) (time.Time, error) {
	if err := k.generateSecret(ch); err != nil {
		return time.Time{}, err
	}
	until, key := now.Add(transition), &ch.New.Value
	previous := ch.Old.Value.Secret
	previous.Until = &until
	key.Previous, key.LastRotatedAt, key.AutoRotated = &previous, &now, false
	key.Rotation = key.Rotation.AfterRotation(now)
	return until, nil
}

// rotationNotes returns the audit notes of a rotation.
// Source: contract/identity-and-governance.md section 13.
func rotationNotes(ch *resource.Edit[keys.Key], mode string) map[string]any {
	return map[string]any{
		"api_key_id": ch.New.ID, "rotation_mode": mode, "old_key_masked": ch.Old.Value.Secret.Masked,
		"transition_expires_at": resource.Stamp(*ch.New.Value.Previous.Until).String(),
	}
}
