// Package guardrails runs guardrails and mutators on the requests and responses of a call. Engine
// compiles them and runs a phase; Set has the hooks of one target. The checks themselves are in the
// packages below this one. Start reading at Engine.Run.
package guardrails

import (
	"encoding/json"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/guardrails/check"
)

// Hook is a compiled guardrail or mutator. It is immutable and safe for concurrent use.
type Hook struct {
	ID         string // slug of a saved guardrail, or the id in the config
	Mutator    bool
	VersionID  string // of a saved guardrail
	content    string // fingerprint of what a config decides about the hook; empty for a default
	Deny       bool
	Async      bool
	Sequential bool
	SoftDeny   bool // a denial has status 200
	Enforced   bool // a default of the workspace or the organisation: no caller can remove it
	Stream     string
	Scope      string
	Message    string // of a denial; empty for the usual one
	OnSuccess  *Feedback
	OnFail     *Feedback
	checks     []compiled
}

// Feedback is what a hook writes to the trace of a request.
type Feedback struct {
	Value    float64
	Weight   float64
	Metadata json.RawMessage // a JSON object or string; nil for none
}

// compiled is a check of a hook, ready to run.
type compiled struct {
	id          string // as the guardrail names it, with its source: "default.wordCount"
	definition  *check.Check
	runner      check.Runner
	broken      *check.Error // why it cannot run; nil for a check that can
	failOnError *bool        // nil if the guardrail does not decide
	reversible  bool         // what it replaces is restored in the response
}

// rewrites reports whether the check may replace the body.
func (c *compiled) rewrites() bool {
	r, ok := c.runner.(check.Rewriter)
	return ok && r.Rewrites()
}

// redacts reports whether the check replaces what it finds.
func (c *compiled) redacts() bool {
	r, ok := c.runner.(check.Redactor)
	return ok && r.Redacts()
}

// searches reports whether the check looks for places in texts, and judges each by its surroundings.
func (c *compiled) searches() bool {
	_, windowed := c.runner.(check.Windowed)
	return windowed || c.redacts()
}

// Reversible reports whether a check of the hook replaces what it finds by placeholders.
func (h *Hook) Reversible() bool {
	return slices.ContainsFunc(h.checks, func(c compiled) bool { return c.reversible && c.redacts() })
}

// Redacts reports whether a check of the hook replaces what it finds.
func (h *Hook) Redacts() bool {
	return slices.ContainsFunc(h.checks, func(c compiled) bool { return c.redacts() })
}

// changes reports whether a check of the hook may change the texts or the body.
func (h *Hook) changes() bool {
	for i := range h.checks {
		if h.checks[i].rewrites() || h.checks[i].redacts() {
			return true
		}
	}
	return false
}

// Paid reports whether a run of the hook costs money.
func (h *Hook) Paid() bool {
	for i := range h.checks {
		if h.checks[i].definition != nil && h.checks[i].definition.Paid {
			return true
		}
	}
	return false
}

// callsService reports whether a parameter contains an address that the check calls.
func callsService(p param.Param) bool { return p.CallsService() }

// textless reports whether no check of the hook reads texts.
func (h *Hook) textless() bool {
	for i := range h.checks {
		if d := h.checks[i].definition; d == nil || !d.Textless {
			return false
		}
	}
	return true
}

// The values of the hook field "stream".
const (
	StreamWindow = "window" // text is released once no check can object to it
	StreamHold   = "hold"   // the whole answer is held
	StreamReport = "report" // everything passes, and the verdict follows
)

// maxWindow is the longest window in characters. A check that needs more holds the answer.
const maxWindow = 4096

// window returns the number of characters that a stream holds back for the hook; 0 if a check of it
// needs the whole text.
func (h *Hook) window() int {
	widest := 0
	for i := range h.checks {
		w, ok := h.checks[i].runner.(check.Windowed)
		if !ok || h.checks[i].rewrites() {
			return 0
		}
		n := w.Window()
		if n <= 0 || n > maxWindow {
			return 0
		}
		widest = max(widest, n)
	}
	return widest
}

// StreamMode returns how the hook judges streams: for hooks that deny or change the answer
// StreamWindow where their checks can judge a window and StreamHold where not, and StreamReport for
// the rest. The field "stream" of the hook decides where it can; a window that its checks cannot judge
// becomes a hold.
func (h *Hook) StreamMode() string {
	switch windowed := h.window() > 0; {
	case h.Async:
		return StreamReport
	case h.Stream == StreamWindow && !windowed:
		return StreamHold
	case h.Stream != "":
		return h.Stream
	case !h.Deny && !h.changes():
		return StreamReport
	case windowed:
		return StreamWindow
	default:
		return StreamHold
	}
}

// readFeedback converts the feedback of a config.
func readFeedback(f *routing.Feedback) *Feedback {
	if f == nil {
		return nil
	}
	return &Feedback{f.Value, f.Weight, f.Metadata}
}

// savedFeedback converts the feedback of a saved guardrail.
func savedFeedback(f guardrail.Feedback) *Feedback { return &Feedback{f.Value, f.Weight, f.Metadata} }
