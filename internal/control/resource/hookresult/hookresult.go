// Package hookresult describes the results of guardrails in responses of the administration. Their
// values come from the gateway as JSON and are not decoded here. Start reading at HookResults.
package hookresult

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
)

// HookResults are the results of the guardrails of a call, by phase: the member hook_results of responses
// to calls.
// Source: contract/dataplane.md 5.4.
type HookResults struct {
	Before jsonfield.Raw[[]HookResult] `json:"before_request_hooks" nullable:"false"`
	After  jsonfield.Raw[[]HookResult] `json:"after_request_hooks" nullable:"false"`
}

// Read returns recorded results. The lists are empty if none were recorded.
func Read(text string) HookResults {
	var r HookResults
	if json.Unmarshal([]byte(text), &r) != nil {
		r = HookResults{}
	}
	return New(r.Before.RawMessage, r.After.RawMessage)
}

// New returns the results of two phases, as JSON lists. A phase without a list is empty.
func New(before, after json.RawMessage) HookResults {
	return HookResults{Before: list(before), After: list(after)}
}

func list(raw json.RawMessage) jsonfield.Raw[[]HookResult] {
	if len(raw) == 0 || raw[0] != '[' {
		raw = json.RawMessage("[]")
	}
	return jsonfield.Raw[[]HookResult]{RawMessage: raw}
}

// HookResult is what a guardrail or mutator decided.
type HookResult struct {
	Verdict     bool                             `json:"verdict" doc:"Whether all checks passed"`
	ID          string                           `json:"id" doc:"Slug of the guardrail, or the id in the config"`
	Transformed bool                             `json:"transformed" doc:"Whether a check changed the body"`
	Checks      []HookCheckResult                `json:"checks" nullable:"false"`
	Feedback    jsonfield.Nullable[HookFeedback] `json:"feedback"`
	TookMS      int64                            `json:"execution_time" doc:"Milliseconds"`
	Async       bool                             `json:"async"`
	Type        string                           `json:"type" enum:"guardrail,mutator"`
	CreatedAt   resource.Stamp                   `json:"created_at"`
	Deny        bool                             `json:"deny" doc:"Whether the guardrail denied the call"`
	Skipped     bool                             `json:"skipped,omitempty" doc:"Whether no check ran, because the text could not be read or an earlier guardrail denied the call"`
	SkipReason  string                           `json:"skip_reason,omitempty" doc:"Why an asynchronous guardrail did not run"`
	VersionID   string                           `json:"guardrail_version_id,omitempty" doc:"Version of the saved guardrail"`
}

// HookCheckResult is what one check decided.
type HookCheckResult struct {
	Data        map[string]any `json:"data" nullable:"true" doc:"What the check found; its members depend on the check"`
	Verdict     bool           `json:"verdict"`
	ID          string         `json:"id" doc:"Id of the check, for example default.wordCount"`
	Error       *HookError     `json:"error,omitempty" doc:"Why the check could not judge"`
	TookMS      int64          `json:"execution_time" doc:"Milliseconds"`
	Transformed bool           `json:"transformed"`
	CreatedAt   resource.Stamp `json:"created_at"`
	Log         map[string]any `json:"log" nullable:"true"`
	FailOnError bool           `json:"fail_on_error"`
	CostNano    int64          `json:"cost_nano,omitempty" doc:"What the check cost, in billionths of a US dollar; absent for nothing. Responses to calls do not have it"`
}

// HookError is why a check could not judge.
type HookError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// HookFeedback is what a guardrail writes to the trace of a call.
type HookFeedback struct {
	Value    float64        `json:"value"`
	Weight   float64        `json:"weight"`
	Metadata map[string]any `json:"metadata" nullable:"true" doc:"As configured, with successfulChecks, failedChecks and erroredChecks: ids of checks, separated by commas"`
}
