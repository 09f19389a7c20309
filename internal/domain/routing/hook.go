package routing

import "encoding/json"

// HookType is what a hook may do.
type HookType string

// These are the hook types.
const (
	Guardrail HookType = "guardrail" // checks, and may rewrite
	Mutator   HookType = "mutator"   // rewrites only
)

// Hook is a guardrail or mutator of a target. Without Checks it refers to the saved guardrail
// whose slug or id is ID. Source: contract/dataplane.md 5.1, 5.2.
type Hook struct {
	ID         string
	Type       HookType
	Checks     []Check
	Deny       bool   // a failure gets status 446
	Async      bool   // only logged; the call does not wait for it
	Sync       bool   // async is false and not absent: the call waits for a saved guardrail that is asynchronous
	Sequential bool   // checks run in order, each on the text rewritten by the previous one
	Stream     string // how streams are judged: "window", "hold" or "report"; empty for the default (ours)
	Scope      string // texts of a request: "last_message", "last_user" or "all"; empty for last_message (ours)
	IDPath     string // the place of its id: "input_guardrails[0]" of a slug, "before_request_hooks[0].id" of an object
	// SoftDeny200 responds to a denial with status 200 in the shape of a chat completion.
	SoftDeny200 bool
	OnSuccess   *Feedback // written to the trace; nil for none
	OnFail      *Feedback
	VersionID   string // guardrail_version_id, passed through
}

// Saved reports whether the hook refers to a saved guardrail instead of defining one.
func (h *Hook) Saved() bool { return len(h.Checks) == 0 }

// Check is one check of a hook.
type Check struct {
	ID         string          // "default.wordCount"
	Parameters json.RawMessage // a JSON object as in the document; "{}" if absent
	Enabled    bool            // false skips the check
	IDPath     string          // the place of its id: that of the check in the shorthand, unless it has a member id
	ParamPath  string          // the place of its parameters
}

// Feedback is what a hook writes to the trace when it passes or fails.
type Feedback struct {
	Value    float64         // -10 to 10
	Weight   float64         // 0 to 1, 1 if the document gives none
	Metadata json.RawMessage // a JSON object, or nil
}
