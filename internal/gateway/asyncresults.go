package gateway

import (
	"slices"
	"strings"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/kernel/ident"
)

// asyncResults are the results of the asynchronous hooks of one attempt. Those that are there when the
// attempt is recorded are part of its record; each later one is an entry of the journal of its own,
// which the log joins to the record on reading. The record does not wait for hooks: it is in the
// journal before the client has the end of the response, so a crash loses at most results of hooks
// that have not finished. It is safe for concurrent use.
type asyncResults struct {
	mu       sync.Mutex         // guards what follows
	early    guardrails.Results // that the record of the attempt will contain
	late     *record.LateHooks  // form of an entry of later results; nil before the attempt is recorded
	withText bool               // entries may contain excerpts of the judged text
}

// resultsOf returns the results of an attempt.
func (h *asyncHooks) resultsOf(a *attempt) *asyncResults {
	h.opening.Lock()
	defer h.opening.Unlock()
	if a.asyncResults == nil {
		a.asyncResults = new(asyncResults)
	}
	return a.asyncResults
}

// record records results of one phase.
func (h *asyncHooks) record(r *asyncResults, p guardrail.Phase, list []guardrails.Result) {
	entry, withText, isLate := r.add(p, list)
	if !isLate {
		return
	}
	entry.Entry = ident.NewIDAt(h.clock.Now())
	var results guardrails.Results
	*resultsIn(&results, p) = list
	entry.Hooks = recordedResults(&results, withText)
	if err := h.journal.AppendHooks(&entry); err != nil {
		h.log.Error("cannot record the results of asynchronous guardrails; the log of the call lacks them", "id", entry.ID, "error", err.Error())
	}
}

// add adds results to those of the record of the attempt. If the attempt is recorded, it returns the
// entry for them instead.
func (r *asyncResults) add(p guardrail.Phase, list []guardrails.Result) (entry record.LateHooks, withText, isLate bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late != nil {
		return *r.late, r.withText, true
	}
	phase := resultsIn(&r.early, p)
	*phase = guardrails.Latest(*phase, list) // a conversation judges many texts
	return record.LateHooks{}, false, false
}

// join returns the results of all hooks of an attempt that is being recorded. Results that arrive from
// now on are late.
func (r *asyncResults) join(a *attempt) guardrails.Results {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := a.x
	r.late = &record.LateHooks{
		ID: a.recordID(), OrgID: x.key.Principal.OrgID, Started: a.started,
		TraceID: strings.Clone(x.trace.ID), SpanID: strings.Clone(x.trace.Span), Number: int32(a.number),
	}
	r.withText = x.capturesBodies()
	return guardrails.Results{Before: slices.Concat(a.results.Before, r.early.Before), After: slices.Concat(a.results.After, r.early.After)}
}

// resultsIn returns the results of a phase.
func resultsIn(r *guardrails.Results, p guardrail.Phase) *[]guardrails.Result {
	if p == guardrail.Input {
		return &r.Before
	}
	return &r.After
}
