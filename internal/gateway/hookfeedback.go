package gateway

import (
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/guardrails"
)

// feedbackSink receives the feedback of hooks on a trace. Give must not block, and is called from any
// goroutine. *logs.HookFeedback implements it.
type feedbackSink interface {
	Give(org, workspace string, f *record.Feedback)
}

// rater writes the feedback of the hooks of one call.
// Source: contract/dataplane.md 5.1, on_success and on_fail.
type rater struct {
	sink                                 feedbackSink // nil drops everything
	org, workspace, key, user, traceName string
}

// raterOf returns the rater of a call. It does not refer to memory of the request.
func raterOf(sink feedbackSink, x *exchange) rater {
	p := &x.key.Principal
	return rater{sink, p.OrgID, p.WorkspaceID, p.ID, p.UserID, strings.Clone(x.trace.ID)}
}

// rate writes the feedback of results.
func (r *rater) rate(results []guardrails.Result) {
	for i := range results {
		value, weight, metadata, ok := results[i].Rating()
		if !ok {
			continue
		}
		r.sink.Give(r.org, r.workspace, &record.Feedback{TraceID: r.traceName, Value: value, Weight: weight, Metadata: metadata, KeyID: r.key, UserID: r.user})
	}
}

// rateHooks writes the feedback of the hooks of an attempt. A repeated attempt has the input results of
// the one before it.
func (re *recorder) rateHooks(a *attempt) {
	if re.feedback == nil || a.x.key == nil || len(a.results.Before)+len(a.results.After) == 0 {
		return
	}
	r := raterOf(re.feedback, a.x)
	if !a.repeated {
		r.rate(a.results.Before)
	}
	r.rate(a.results.After)
}
