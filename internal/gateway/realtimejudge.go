package gateway

import (
	"context"
	"slices"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/gateway/realtime"
	"sluice/internal/gateway/screening"
	"sluice/internal/kernel/llm"
)

// judgeConversation runs the hooks that read no text before the provider is called: on the model, the
// metadata and the type of the request. The events of the conversation run the others.
func (s *guardrailStep) judgeConversation(ctx context.Context, a *attempt) error {
	if s.engine == nil {
		return nil
	}
	a.hooks = s.sets.find(s.engine, a)
	if a.hooks.Empty() {
		a.hooks = nil
		return nil
	}
	s.openVault(ctx, a)
	opening, _ := guardrails.SplitTextless(a.hooks.Before)
	if len(opening) == 0 {
		return nil
	}
	c := s.call(a)
	c.BeforePaid = func(costNano int64) error { return s.affordable(ctx, a, costNano) }
	out, err := s.engine.Run(s.serving(ctx, a, opening), opening, c, guardrail.Input, 0, []byte("{}"))
	if err != nil {
		return clientGone(ctx, err)
	}
	a.results.Before = out.Results
	if out.Unpaid != nil {
		return out.Unpaid
	}
	if out.Denied {
		return a.deny(out)
	}
	return nil
}

// screen returns the guard of a conversation; nil without hooks that read text. The second result adds
// what they decided to the attempt when the conversation has ended. probe returns the error of limits
// that would reject the next response after checks were paid.
func (s *guardrailStep) screen(a *attempt, probe func(ctx context.Context, checksNano int64) error) (guard realtime.Guard, finish func()) {
	if a.hooks.Empty() {
		return nil, func() {}
	}
	_, before := guardrails.SplitTextless(a.hooks.Before)
	j := &conversationJudge{step: s, a: a, call: s.call(a), before: before, probe: probe}
	j.deciding, j.reporting = guardrails.SplitReports(a.hooks.After)
	if len(before)+len(a.hooks.After) == 0 {
		return nil, func() {}
	}
	return screening.New(j, a.x.id), j.finish
}

// conversationJudge judges the text of a conversation with the hooks of its target. It implements
// screening.Judge.
type conversationJudge struct {
	step      *guardrailStep
	a         *attempt
	call      *guardrails.Call
	before    []*guardrails.Hook
	deciding  []*guardrails.Hook // output hooks whose verdict the text waits for
	reporting []*guardrails.Hook // other output hooks
	probe     func(ctx context.Context, checksNano int64) error

	mu       sync.Mutex // guards what follows
	results  guardrails.Results
	received [2]bool // audio passed unread, from the client and from the provider
}

// Event implements screening.Judge.
func (j *conversationJudge) Event(ctx context.Context, event []byte) (screening.Verdict, error) {
	if len(j.before) == 0 {
		return screening.Verdict{}, nil
	}
	c := *j.call
	c.Shape, c.Request = passage.Realtime, event
	c.BeforePaid = func(costNano int64) error { return j.probe(ctx, costNano) }
	return j.run(ctx, &c, j.before, guardrail.Input, event)
}

// Output implements screening.Judge.
func (j *conversationJudge) Output(ctx context.Context, body []byte) (screening.Verdict, error) {
	c := *j.call
	c.Shape = string(llm.CreateModelResponse)
	if len(j.reporting) > 0 {
		if _, err := j.run(ctx, &c, j.reporting, guardrail.Output, body); err != nil {
			return screening.Verdict{}, err
		}
	}
	if len(j.deciding) == 0 {
		return screening.Verdict{}, nil
	}
	return j.run(ctx, &c, j.deciding, guardrail.Output, body)
}

// run runs hooks on a body and adds their results to those of the conversation.
func (j *conversationJudge) run(ctx context.Context, c *guardrails.Call, hooks []*guardrails.Hook, p guardrail.Phase, body []byte) (screening.Verdict, error) {
	status := 0
	if p == guardrail.Output {
		status = 200
	}
	out, err := j.step.engine.Run(j.step.serving(ctx, j.a, hooks), hooks, c, p, status, body)
	if err != nil {
		return screening.Verdict{}, clientGone(ctx, err)
	}
	if out.Unpaid != nil && p == guardrail.Input {
		return screening.Verdict{}, out.Unpaid
	}
	j.step.async.start(j.a, out.Later, c, p, status, body)
	j.mu.Lock()
	if p == guardrail.Input {
		j.results.Before = guardrails.Latest(j.results.Before, out.Results)
	} else {
		j.results.After = guardrails.Latest(j.results.After, out.Results)
	}
	j.mu.Unlock()
	v := screening.Verdict{Denied: out.Denied, Body: out.Body}
	if out.Denied {
		v.Message = denialText(out)
	}
	return v, nil
}

// Audio implements screening.Judge.
func (j *conversationJudge) Audio(p guardrail.Phase) string {
	hooks, side := j.before, 0
	if p == guardrail.Output {
		hooks, side = slices.Concat(j.deciding, j.reporting), 1
	}
	for _, h := range hooks {
		if h.Enforced && h.Deny && !j.call.PassUnreadable {
			return guardrails.Unreadable(h)
		}
	}
	j.mu.Lock()
	j.received[side] = true
	j.mu.Unlock()
	return ""
}

// Mode implements screening.Judge.
func (j *conversationJudge) Mode() (decides, reads bool) {
	return len(j.deciding) > 0, len(j.deciding)+len(j.reporting) > 0
}

// finish adds the results to the attempt. The hooks that could not read the audio of a side are
// recorded as skipped, in addition to what they decided about texts.
func (j *conversationJudge) finish() {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &j.a.results
	r.Before, r.After = append(r.Before, j.results.Before...), append(r.After, j.results.After...)
	if j.received[0] {
		r.Before = append(r.Before, guardrails.SkippedBy(j.before)...)
	}
	if j.received[1] {
		r.After = append(r.After, guardrails.SkippedBy(j.a.hooks.After)...)
	}
}
