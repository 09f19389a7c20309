package routing

import "encoding/json"

// HookType says what a hook may do.
type HookType string

// The hook types.
const (
	Guardrail HookType = "guardrail" // judges, may rewrite
	Mutator   HookType = "mutator"   // rewrites only
)

// Hook is a guardrail or mutator of a target. Without Checks it stands for the
// saved guardrail whose slug or id is ID. Source: contract/dataplane.md 5.1, 5.2.
type Hook struct {
	ID         string
	Type       HookType
	Checks     []Check
	Deny       bool // a failure is answered with 446
	Async      bool // only logged, never waited for
	Sequential bool // checks run in order, each seeing the rewriting of the one before
	// SoftDeny200 answers a denial with status 200 in the shape of a chat completion.
	SoftDeny200 bool
	OnSuccess   *Feedback // written to the trace; nil for none
	OnFail      *Feedback
	VersionID   string // guardrail_version_id, carried through
}

// Saved reports whether the hook names a saved guardrail instead of describing one.
func (h *Hook) Saved() bool { return len(h.Checks) == 0 }

// Check is one check of a hook.
type Check struct {
	ID         string          // "default.wordCount"
	Parameters json.RawMessage // a JSON object as the document spells it; "{}" when absent
	Enabled    bool            // false skips the check
}

// Feedback is what a hook writes to the trace when it passed or failed.
type Feedback struct {
	Value    float64         // -10 to 10
	Weight   float64         // 0 to 1, 1 when the document gives none
	Metadata json.RawMessage // a JSON object, or nil
}
