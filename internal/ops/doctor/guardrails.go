package doctor

import (
	"context"
	"errors"
)

// Guardrails warns if guardrails do not run.
type Guardrails struct {
	Enabled bool // GUARDRAILS_ENABLED
}

// Run implements Check.
func (g Guardrails) Run(context.Context) []Finding {
	f := Finding{Subject: "guardrails", Detail: "guardrails run"}
	if !g.Enabled {
		f.Err, f.Warning = errors.New("no guardrail runs, and calls pass that a guardrail would deny"), true
		f.Hint = "remove GUARDRAILS_ENABLED=OFF unless this is what you want"
	}
	return []Finding{f}
}
