package guardrails

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"time"

	"sluice/internal/gateway/guardrails/check"
)

// Result is what a hook decided. Its JSON form is that of hook_results.
// Source: contract/dataplane.md 5.4.
type Result struct {
	Verdict     bool           `json:"verdict"`
	ID          string         `json:"id"`
	Transformed bool           `json:"transformed"`
	Checks      []CheckResult  `json:"checks"`
	Feedback    *shownFeedback `json:"feedback"`
	TookMS      int64          `json:"execution_time"` // milliseconds
	Async       bool           `json:"async"`
	Type        string         `json:"type"` // "guardrail" or "mutator"
	CreatedAt   time.Time      `json:"created_at"`
	Deny        bool           `json:"deny"` // true only if it denied the call
	Skipped     bool           `json:"skipped,omitempty"`
	Reason      string         `json:"skip_reason,omitempty"` // why an asynchronous hook was skipped
	VersionID   string         `json:"guardrail_version_id,omitempty"`

	unpaid error // as in check.Result, of the last such check
}

// CheckResult is what a check decided.
type CheckResult struct {
	Data        any          `json:"data"`
	Verdict     bool         `json:"verdict"`
	ID          string       `json:"id"`
	Error       *check.Error `json:"error,omitempty"`
	TookMS      int64        `json:"execution_time"` // milliseconds
	Transformed bool         `json:"transformed"`
	CreatedAt   time.Time    `json:"created_at"`
	Log         any          `json:"log"`
	FailOnError bool         `json:"fail_on_error"`
	CostNano    int64        `json:"cost_nano,omitempty"` // nano-dollars that the ledger has; in the log only

	took time.Duration
}

// shownFeedback is the feedback of a hook in its result.
type shownFeedback struct {
	Value    float64        `json:"value"`
	Weight   float64        `json:"weight"`
	Metadata map[string]any `json:"metadata"`
}

// Shown is the member hook_results of responses.
type Shown struct {
	Before []Result `json:"before_request_hooks"`
	After  []Result `json:"after_request_hooks"`
}

// Results are the results of a call, by phase.
type Results struct{ Before, After []Result }

// Any reports whether a hook ran that the response shows: not an asynchronous one.
func (r *Results) Any() bool { return len(shown(r.Before))+len(shown(r.After)) > 0 }

// ForClient returns the results for the client: those of synchronous hooks. denied removes everything
// that could quote the judged text: data, logs of checks and details of errors.
func (r *Results) ForClient(denied bool) Shown {
	s := Shown{Before: shown(r.Before), After: shown(r.After)}
	if denied {
		conceal(s.Before)
		conceal(s.After)
	}
	return s
}

// JSON returns the member hook_results for the client. denied is as for ForClient.
func (r *Results) JSON(denied bool) []byte {
	b, err := json.Marshal(r.ForClient(denied))
	if err != nil { // data of a check that JSON cannot represent
		b, _ = json.Marshal(r.ForClient(true)) //nolint:errchkjson // without data it is plain values
	}
	return b
}

// ForLog returns the results for the log, asynchronous ones included. withText keeps what quotes the
// judged text: logs of checks, and texts in their data. Without it, verdicts, counts and times stay.
func (r *Results) ForLog(withText bool) Shown {
	s := Shown{Before: cloned(r.Before), After: cloned(r.After)}
	if !withText {
		concealTexts(s.Before)
		concealTexts(s.After)
	}
	return s
}

// concealTexts is conceal, but keeps the numbers and verdicts in the data of checks.
func concealTexts(list []Result) {
	for i := range list {
		for k := range list[i].Checks {
			c := &list[i].Checks[k]
			data := metricsOf(c.Data)
			concealCheck(c)
			c.Data = data
		}
	}
}

func shown(list []Result) []Result {
	out := make([]Result, 0, len(list))
	for i := range list {
		if !list[i].Async && !list[i].Skipped {
			r := list[i].clone()
			r.waive()
			out = append(out, r)
		}
	}
	return out
}

func cloned(list []Result) []Result {
	out := make([]Result, 0, len(list))
	for i := range list {
		out = append(out, list[i].clone())
	}
	return out
}

func (r *Result) clone() Result {
	c := *r
	c.Checks = append(make([]CheckResult, 0, len(r.Checks)), r.Checks...)
	return c
}

// conceal removes what may quote the judged text.
func conceal(list []Result) {
	for i := range list {
		for k := range list[i].Checks {
			concealCheck(&list[i].Checks[k])
		}
	}
}

func concealCheck(c *CheckResult) {
	c.Data, c.Log = nil, nil
	if c.Error != nil {
		c.Error = &check.Error{Name: c.Error.Name, Message: "see the log of the request"}
	}
}

// Rating returns the feedback that the hook gives on the trace, with a rounded value and its metadata as
// a JSON object. It reports false if the hook gives none.
func (r *Result) Rating() (value int, weight float64, metadata []byte, ok bool) {
	if r.Feedback == nil {
		return 0, 0, nil, false
	}
	metadata, err := json.Marshal(r.Feedback.Metadata)
	if err != nil { // it was read from JSON: cannot happen
		metadata = nil
	}
	return int(math.Round(r.Feedback.Value)), r.Feedback.Weight, metadata, true
}

// feedback returns the feedback of a hook with the ids of its checks by their outcome.
func (h *Hook) feedback(verdict bool, checks []CheckResult) *shownFeedback {
	f := h.OnFail
	if verdict {
		f = h.OnSuccess
	}
	if f == nil {
		return nil
	}
	metadata := make(map[string]any)
	var object map[string]any
	if json.Unmarshal(f.Metadata, &object) == nil {
		maps.Copy(metadata, object)
	}
	var passed, failed, errored []string
	for i := range checks {
		switch c := &checks[i]; {
		case c.Error != nil:
			errored = append(errored, c.ID)
		case c.Verdict:
			passed = append(passed, c.ID)
		default:
			failed = append(failed, c.ID)
		}
	}
	metadata["successfulChecks"], metadata["failedChecks"], metadata["erroredChecks"] = strings.Join(passed, ", "), strings.Join(failed, ", "), strings.Join(errored, ", ")
	return &shownFeedback{f.Value, f.Weight, metadata}
}
