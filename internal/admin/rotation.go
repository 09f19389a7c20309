package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/resource"
)

// leastTransition is the shortest, and the usual, time for which both values of a
// rotated key are valid. Source: spec, Limits.
const leastTransition = 30 * time.Minute

// rotation gives a key a new value; the old one stays valid for the transition.
// Source: contract/identity-and-governance.md section 5.
func (k kinds) rotation() resource.Action[keys.Key] {
	return resource.Action[keys.Key]{
		Name: "rotate", Method: http.MethodPost, Path: "/rotate", ID: "rotateApiKey", Summary: "Give an API key a new value",
		Body: rotateIn{}, Optional: true, Answer: rotateReceipt{}, Run: k.rotate,
	}
}

type rotateIn struct {
	Period      int64  `json:"key_transition_period_ms,omitempty" minimum:"1800000" maximum:"31536000000" default:"1800000" doc:"how long the old value stays valid"`
	WorkspaceID string `json:"workspace_id,omitempty" doc:"id or slug; for Admin keys"`
}

type rotateReceipt struct {
	ID      string         `json:"id" format:"uuid"`
	Key     string         `json:"key" doc:"the new raw key; it is shown once"`
	Expires resource.Stamp `json:"key_transition_expires_at" doc:"end of the old value"`
}

func (k kinds) rotate(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[keys.Key]) (any, error) {
	old := ch.Old.Value
	if p := old.Previous; p != nil && p.Until != nil && c.Now.Before(*p.Until) {
		return nil, fault.New(fault.Conflict, "the transition of the last rotation is not over yet")
	}
	period := leastTransition
	if c.Sent.Has("key_transition_period_ms") {
		var ms int64
		if err := json.Unmarshal(c.Sent["key_transition_period_ms"], &ms); err != nil {
			return nil, fault.New(fault.InvalidParameter, "the value is a number of milliseconds").At("key_transition_period_ms")
		}
		period = time.Duration(ms) * time.Millisecond
	}
	until, now := c.Now.Add(period), c.Now
	if err := k.giveValue(ch); err != nil {
		return nil, err
	}
	previous := old.Secret
	previous.Until = &until
	ch.New.Value.Previous, ch.New.Value.LastRotatedAt, ch.New.Value.AutoRotated = &previous, &now, false
	c.Note("api_key_id", ch.New.ID)
	c.Note("rotation_mode", "manual")
	c.Note("old_key_masked", old.Secret.Masked)
	c.Note("transition_expires_at", resource.Stamp(until).String())
	return rotateReceipt{ch.New.ID, ch.Raw.Reveal(), resource.Stamp(until)}, nil
}
