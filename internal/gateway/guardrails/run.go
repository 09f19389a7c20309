package guardrails

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/wire"
)

// Outcome is what the hooks of a phase decided.
type Outcome struct {
	Results  []Result // in the order of the hooks
	Denied   bool
	SoftDeny bool            // the denial has status 200
	Message  string          // of the denial, from the guardrail; empty for the usual one
	Failed   bool            // a synchronous hook failed without a denial: status 246
	Body     []byte          // the changed body; nil if nothing changed
	Headers  wire.Header     // header fields for the upstream request
	Unpaid   error           // of a limit that could not pay for a check, which is an error of that check; nil for none
	Later    []*Hook         // asynchronous hooks, which the caller runs with RunAsync or RunAsyncStream
	Answer   *StreamedAnswer // for Later; nil without any, and for bodies
	// Unredacted reports that a hook that redacts did not run or failed: nothing may keep the body.
	Unredacted bool
}

// Run runs the synchronous hooks of a phase on a body: those without cost first. A denial by a hook
// without cost ends the run before a paid check. So does an input check that nothing can pay for: the caller
// ends the call with Outcome.Unpaid. An enforced guardrail that cannot read the body denies
// the call. The error is that of BeforePaid or of ctx.
// Source: contract/dataplane.md 5.3.
func (e *Engine) Run(ctx context.Context, hooks []*Hook, c *Call, p guardrail.Phase, status int, body []byte) (*Outcome, error) {
	out := &Outcome{Results: make([]Result, len(hooks))}
	data := newContent(c, p, status, body)
	order := executionOrder(hooks)
	for at := 0; at < len(order); {
		group := nextGroup(hooks, order[at:])
		at += len(group)
		if paid := hooks[group[0]].Paid(); paid && (out.Denied || out.Unpaid != nil && p == guardrail.Input) {
			skip(out, hooks, group)
			continue
		} else if paid && c.BeforePaid != nil {
			if err := c.BeforePaid(price(hooks, order[at-len(group):], data)); err != nil {
				return nil, err
			}
			c.BeforePaid = nil
		}
		if err := e.group(ctx, hooks, group, data, out); err != nil {
			return nil, err
		}
	}
	for _, h := range hooks {
		if h.Async && !h.Mutator {
			out.Later = append(out.Later, h)
		}
	}
	out.Results = slices.DeleteFunc(out.Results, func(r Result) bool { return r.ID == "" })
	if data.changed() {
		out.Body = data.body
	}
	data.removed.scrub(out.Results)
	out.Headers = data.headers
	if out.Denied {
		e.metrics.denied.WithLabelValues(string(p)).Inc()
	}
	return out, nil
}

// executionOrder returns the positions of the synchronous hooks: those without cost first.
func executionOrder(hooks []*Hook) []int {
	var free, paid []int
	for i, h := range hooks {
		switch {
		case h.Async:
		case h.Paid():
			paid = append(paid, i)
		default:
			free = append(free, i)
		}
	}
	return append(free, paid...)
}

// nextGroup returns the hooks that run next: one that may change the body, or all that follow each other
// and do not. Hooks that change the body run one after the other, so that each works on the result of
// the one before.
func nextGroup(hooks []*Hook, order []int) []int {
	if hooks[order[0]].changes() {
		return order[:1]
	}
	n := 1
	for n < len(order) && !hooks[order[n]].changes() && hooks[order[n]].Paid() == hooks[order[0]].Paid() {
		n++
	}
	return order[:n]
}

// skip records the paid hooks that do not run, because the call ends without them.
func skip(out *Outcome, hooks []*Hook, group []int) {
	for _, i := range group {
		out.Results[i] = Result{ID: hooks[i].ID, Type: hooks[i].kind(), Skipped: true, Verdict: true, Checks: []CheckResult{}, VersionID: hooks[i].VersionID}
		out.Unredacted = out.Unredacted || hooks[i].Redacts()
	}
}

func (h *Hook) kind() string {
	if h.Mutator {
		return "mutator"
	}
	return "guardrail"
}

// group runs hooks that do not depend on each other.
func (e *Engine) group(ctx context.Context, hooks []*Hook, group []int, data *content, out *Outcome) error {
	var wait sync.WaitGroup
	for _, i := range group {
		h := hooks[i]
		if data.unread && !h.textless() {
			skip(out, hooks, []int{i})
			if data.mustRead(h) {
				out.refuse(h, &out.Results[i])
			}
			continue
		}
		if len(group) == 1 || !h.waits() {
			out.Results[i] = e.remembered(ctx, h, data)
			continue
		}
		wait.Go(func() { out.Results[i] = e.remembered(ctx, h, data) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, i := range group {
		out.add(hooks[i], &out.Results[i])
		out.Unredacted = out.Unredacted || hooks[i].failedToRedact(&out.Results[i])
	}
	if data.failed && !out.Denied {
		out.Denied, out.Unredacted = true, true
		out.Message = "a guardrail found text to redact, but the gateway cannot replace it in this call; the call is not forwarded"
		out.Results[group[0]].Verdict, out.Results[group[0]].Deny = false, true
	}
	return nil
}

// failedToRedact reports whether a check that redacts could not judge the texts.
func (h *Hook) failedToRedact(r *Result) bool {
	for i := range r.Checks {
		if i < len(h.checks) && r.Checks[i].Error != nil && (h.checks[i].redacts() || h.checks[i].broken != nil) {
			return true
		}
	}
	return false
}

// refuse denies a call because a hook cannot read its text.
func (o *Outcome) refuse(h *Hook, r *Result) {
	r.Skipped, r.Verdict = false, false
	o.Message = Unreadable(h)
	if !h.Deny || h.Mutator { // it redacts, so the text must not pass
		o.Denied, r.Deny = true, true
	}
}

// mustRead reports whether a hook that cannot read the text denies the call: an enforced one that denies,
// and each one that denies or redacts if the caller made a known format unreadable.
func (c *content) mustRead(h *Hook) bool {
	return !c.call.PassUnreadable && (h.Enforced && h.Deny || c.evades && (h.Deny || h.Redacts()))
}

// Unreadable returns the message of a denial because a guardrail cannot read the text of a call.
func Unreadable(h *Hook) string {
	return "the guardrail " + h.ID + " must read the text of this call, but the gateway cannot read it; use an endpoint whose format the gateway can read, or set allow_unreadable_content in data_plane_security_settings of the organisation"
}

// remembered runs a hook, or returns the result of an earlier paid run on the same body.
func (e *Engine) remembered(ctx context.Context, h *Hook, data *content) Result {
	if !h.Paid() || data.call.Memo == nil {
		return e.judge(ctx, h, data)
	}
	k := keyOf(h, data.phase, data.body)
	if known, ok := data.call.Memo.find(k); ok {
		if known.body != nil {
			data.replaceBody(known.body)
			data.edited = true
		}
		data.removed.merge(&known.removed)
		return known.result
	}
	r := e.judge(ctx, h, data)
	if r.unpaid != nil {
		return r // another target may have other limits
	}
	entry := memoEntry{result: r, removed: data.removed.clone()}
	if r.Transformed {
		entry.body = data.body
	}
	data.call.Memo.put(k, entry)
	return r
}

// waits reports whether a check of the hook calls a service.
func (h *Hook) waits() bool {
	for i := range h.checks {
		if d := h.checks[i].definition; d != nil && (d.Paid || slices.ContainsFunc(d.Params, callsService)) {
			return true
		}
	}
	return false
}

// add adds the result of a hook to the outcome of its phase.
func (o *Outcome) add(h *Hook, r *Result) {
	if o.Unpaid == nil {
		o.Unpaid = r.unpaid
	}
	if r.Verdict || r.Skipped || h.Mutator {
		return
	}
	if !h.Deny {
		o.Failed = true
		return
	}
	r.Deny = true
	if !o.Denied {
		o.Denied, o.SoftDeny = true, h.SoftDeny
		if h.Message != "" {
			o.Message = h.Message
		}
	}
}

// judge runs the checks of one hook. It changes data only if the hook is alone in its group.
func (e *Engine) judge(ctx context.Context, h *Hook, data *content) Result {
	started := e.clock.Now()
	r := Result{ID: h.ID, Async: h.Async, Type: h.kind(), CreatedAt: started.UTC(), VersionID: h.VersionID, Verdict: true}
	results := make([]CheckResult, len(h.checks))
	e.rewriters(ctx, h, data, results, &r)
	if h.Sequential {
		e.inOrder(ctx, h, data, results, &r)
	} else {
		e.together(ctx, h, data, results, &r)
	}
	r.Checks = results
	for i := range results {
		c := &h.checks[i]
		r.Verdict = r.Verdict && h.passes(c, &results[i])
		r.Transformed = r.Transformed || results[i].Transformed
		e.metrics.ran(string(data.phase), &results[i])
	}
	r.Feedback = h.feedback(r.Verdict, results)
	r.TookMS = e.clock.Now().Sub(started).Milliseconds()
	return r
}

// passes reports whether the hook passes as far as a check decides. failOnError of the check decides
// about errors; without it an enforced hook that denies fails closed, and others follow the rule of
// the check. The verdict of an errored check is that rule.
func (h *Hook) passes(c *compiled, r *CheckResult) bool {
	switch {
	case r.Error == nil:
		return r.Verdict
	case c.failOnError != nil:
		return !*c.failOnError
	case h.Enforced && h.Deny:
		return false
	}
	return r.Verdict
}

// rewriters runs the checks that may replace the body, each on the result of the one before.
func (e *Engine) rewriters(ctx context.Context, h *Hook, data *content, results []CheckResult, r *Result) {
	if h.Sequential {
		return
	}
	for i := range h.checks {
		if h.checks[i].rewrites() {
			e.one(ctx, h, i, data, results, r)
		}
	}
}

// inOrder runs the checks one after the other, each on the texts that the one before left.
func (e *Engine) inOrder(ctx context.Context, h *Hook, data *content, results []CheckResult, r *Result) {
	for i := range h.checks {
		e.one(ctx, h, i, data, results, r)
	}
}

// one runs a check and applies its changes.
func (e *Engine) one(ctx context.Context, h *Hook, i int, data *content, results []CheckResult, r *Result) {
	in, positions := data.input(h.Scope, h.checks[i].redacts(), h.checks[i].searches())
	got := e.check(ctx, &h.checks[i], in, &results[i])
	r.noteUnpaid(&got)
	data.take(&h.checks[i], in, positions, &got, &results[i])
}

// take applies the changes of a check.
func (c *content) take(k *compiled, in *check.Input, positions []int, got *check.Result, r *CheckResult) {
	c.addHeaders(got.Headers)
	if got.Body != nil {
		c.replaceBody(got.Body)
		c.edited = true
		r.Transformed = true
	}
	if len(got.Edits) > 0 {
		c.edit(positions, in.Texts, k.changesOf(got.Edits))
		c.edited = true
		r.Transformed = true
	}
}

// changed reports whether a hook changed the body.
func (c *content) changed() bool { return c.edited }

// together runs the checks that do not replace the body at once. Their edits are merged.
func (e *Engine) together(ctx context.Context, h *Hook, data *content, results []CheckResult, r *Result) {
	got := make([]check.Result, len(h.checks))
	all, positions := data.input("", true, true)
	searched, searchedPositions := data.input(h.Scope, false, true)
	scoped, scopedPositions := data.input(h.Scope, false, false)
	var wait sync.WaitGroup
	for i := range h.checks {
		c := &h.checks[i]
		if c.rewrites() {
			continue
		}
		in := scoped
		switch {
		case c.redacts():
			in = all
		case c.searches():
			in = searched
		}
		if c.definition == nil || !c.definition.Paid && !slices.ContainsFunc(c.definition.Params, callsService) {
			got[i] = e.check(ctx, c, in, &results[i])
			continue
		}
		wait.Go(func() { got[i] = e.check(ctx, c, in, &results[i]) })
	}
	wait.Wait()
	var edits []change
	for i := range got {
		r.noteUnpaid(&got[i])
		data.addHeaders(got[i].Headers)
		list := h.checks[i].changesOf(got[i].Edits)
		switch c := &h.checks[i]; {
		case c.redacts():
		case c.searches():
			list = moved(list, searchedPositions, positions)
		default:
			list = moved(list, scopedPositions, positions)
		}
		results[i].Transformed = results[i].Transformed || len(list) > 0
		edits = append(edits, list...)
	}
	if len(edits) > 0 {
		data.edit(positions, all.Texts, edits)
		data.edited = true
	}
}

// moved converts positions in the texts in scope to positions in all texts. Both lists are in order.
func moved(edits []change, scoped, all []int) []change {
	out := make([]change, 0, len(edits))
	for _, e := range edits {
		if e.Text < 0 || e.Text >= len(scoped) {
			continue
		}
		if at, found := slices.BinarySearch(all, scoped[e.Text]); found {
			e.Text = at
			out = append(out, e)
		}
	}
	return out
}

// check runs one check. A panic is an error of the check.
func (e *Engine) check(ctx context.Context, c *compiled, in *check.Input, r *CheckResult) (got check.Result) {
	started := e.clock.Now()
	*r = CheckResult{ID: c.id, CreatedAt: started.UTC(), FailOnError: c.failOnError != nil && *c.failOnError}
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("panic in a guardrail check; it counts as an error", "check", c.id, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			got = check.Failed("Check error", "the check failed; see the log of the gateway")
		}
		r.took = e.clock.Now().Sub(started)
		r.TookMS = r.took.Milliseconds()
		r.Data, r.Log, r.Error, r.CostNano = got.Data, got.Log, got.Error, got.CostNano
		r.Verdict = got.Verdict || got.Error != nil && !got.ErrorDecides
	}()
	if c.broken != nil {
		return check.Result{Error: c.broken}
	}
	got = c.runner.Run(ctx, in)
	if got.Error == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		got = check.Failed("TimeoutError", "the check did not finish in time")
	}
	return got
}
