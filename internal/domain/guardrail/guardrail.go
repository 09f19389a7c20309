// Package guardrail contains guardrails: named sets of checks on requests to models and on their
// responses. This file has the stored form; Table lists the checks
// that the program has, with their parameters.
package guardrail

import (
	"encoding/json"
	"fmt"

	"sluice/internal/kernel/sealed"
)

// Kind is the kind of the stored record.
const Kind = "guardrail"

// Limits of a guardrail.
const (
	MaxChecks          = 50
	MaxParametersBytes = 64 << 10 // of one check, as JSON
	maxCheckName       = 255
)

// Guardrail is the stored body of a guardrail. The parameters of checks may hold
// credentials of external services, so the checks are kept sealed as a whole.
// Source: contract/content-and-observability.yaml, GuardrailDetails.
type Guardrail struct {
	Name    string  `json:"name"`
	Sealed  []byte  `json:"sealed"` // JSON list of Check, under Context
	Actions Actions `json:"actions"`
	// SentActions are the actions as a client wrote them, for answers; Actions are what
	// they mean. Nil in records of before.
	SentActions json.RawMessage `json:"sent_actions,omitempty"`
	OwnerID     string          `json:"owner_id,omitempty"`   // of the key or user that made it
	UpdatedBy   string          `json:"updated_by,omitempty"` // of the last one who changed it
}

// Context is what the checks of a record are sealed under: "guardrail/0191…".
func Context(recordID string) string { return Kind + "/" + recordID }

// Seal keeps checks, a JSON list of Check, as those of a record.
func (g *Guardrail) Seal(box *sealed.Sealer, recordID string, checks []byte) (err error) {
	g.Sealed, err = box.Seal(checks, Context(recordID))
	return err
}

// Text returns the checks as they were written, in the clear; the caller owns the
// bytes. The error is that of sealed.Box.
func (g *Guardrail) Text(box *sealed.Sealer, recordID string) ([]byte, error) {
	return box.Open(g.Sealed, Context(recordID))
}

// Open returns the decrypted checks, as the gateway runs them. The error is that of sealed.Box, or
// names the guardrail whose checks cannot be decoded.
func (g *Guardrail) Open(box *sealed.Sealer, recordID string) ([]Check, error) {
	text, err := g.Text(box, recordID)
	if err != nil {
		return nil, err
	}
	var checks []Check
	if err := json.Unmarshal(text, &checks); err != nil {
		return nil, fmt.Errorf("read the checks of guardrail %s: %w", recordID, err)
	}
	return checks, nil
}

// Check is one check of a guardrail.
// Source: contract/content-and-observability.yaml, GuardrailCheck.
type Check struct {
	ID         string          `json:"id"` // "default.wordCount", an alias of it, or "wordCount"
	Name       string          `json:"name,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // a JSON object; absent means {}
	IsEnabled  *bool           `json:"is_enabled,omitempty"` // nil means true; false skips the check
}

// Enabled reports whether the check is to run.
func (c *Check) Enabled() bool { return c.IsEnabled == nil || *c.IsEnabled }

func (c *Check) parameters() (map[string]any, error) {
	var params map[string]any
	if len(c.Parameters) == 0 {
		return params, nil
	}
	err := json.Unmarshal(c.Parameters, &params)
	return params, err
}
