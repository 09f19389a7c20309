// Package trial has the values by which the administration runs a guardrail on a body outside of
// calls: in tests and dry runs. It runs nothing; the program connects it to the guardrails of the
// gateway. Start reading at Judge.
package trial

import (
	"context"
	"encoding/json"

	"sluice/internal/domain/guardrail"
	"sluice/internal/kernel/llm"
)

// Judge runs one phase of a guardrail on a body. It is safe for concurrent use. It returns when ctx
// ends at the latest, with the error of ctx; a check that fails is part of the outcome.
type Judge func(ctx context.Context, c *Case) (*Outcome, error)

// Case is the body of a call, with what checks read in addition.
type Case struct {
	Endpoint llm.Endpoint // whose format the bodies have: "chatComplete"
	Path     string       // of the call: "/v1/chat/completions"; decides the format of calls that are passed through
	Provider string       // "openai"
	Model    string       // "gpt-4o"
	Metadata map[string]string
	TraceID  string
	Request  []byte // JSON; the body that the input phase judges
	Response []byte // JSON or a stream of events; the body that the output phase judges
	Stream   bool   // Response is a stream of events
}

// Outcome is what a guardrail decided about a body.
type Outcome struct {
	Result  json.RawMessage // an element of hook_results
	Denied  bool            // the guardrail stops such a call
	Failed  bool            // the guardrail fails and lets such a call pass
	Unread  bool            // the text of the body cannot be read, so no check ran
	Message string          // of a denial, if the guardrail sets one
	Body    []byte          // after the guardrail changed it; nil if it did not
	Checks  []Check         // that ran
}

// Check is what one check decided.
type Check struct {
	ID          string // "default.wordCount"
	Verdict     bool   // false: the check fails
	Errored     bool   // the check could not judge
	Transformed bool
}

// Runs returns the ids of the enabled checks of a list that run in a phase.
func Runs(t *guardrail.Table, checks []guardrail.Check, p guardrail.Phase) (ids []string) {
	for i := range checks {
		if d, ok := t.Find(checks[i].ID); ok && checks[i].Enabled() && d.Runs(p) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// WithoutPaid returns the checks of a list that cost nothing, and the ids of the enabled ones that it
// leaves out.
func WithoutPaid(t *guardrail.Table, checks []guardrail.Check) (free []guardrail.Check, skipped []string) {
	for i := range checks {
		d, ok := t.Find(checks[i].ID)
		switch {
		case !ok || !d.Paid:
			free = append(free, checks[i])
		case checks[i].Enabled():
			skipped = append(skipped, d.ID)
		}
	}
	return free, skipped
}
