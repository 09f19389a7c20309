package configs

import (
	"context"
	"errors"
	"sync"

	"github.com/tidwall/gjson"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
)

// maxJudged is the maximum size of a body that is judged, in bytes after decompression.
const maxJudged = 4 << 20

// guardrailRun is a guardrail that is being run on recorded traffic.
type guardrailRun struct {
	logs    Traffic
	trials  Trials
	query   record.Query
	limit   int    // rows to read
	ownUser string // the only user whose attempts the caller may see; empty for all
	phases  []*phaseRun
	read    int
	cut     string // why the run ended before the end of the time range
	samples dryRunSamplesView
}

// phaseRun is a phase of the guardrail.
type phaseRun struct {
	judge  trial.Judge
	counts dryRunPhaseView
	checks []dryRunCheckView
}

// prepare compiles the phases that a body selects and in which checks run.
func (d *guardrailRun) prepare(k guardrails, t *tried, selected string) error {
	d.trials = k.Trials
	for _, p := range []guardrail.Phase{guardrail.Input, guardrail.Output} {
		ids := trial.Runs(k.Checks, t.Checks, p)
		if selected == string(p) {
			if err := k.testable(t, p); err != nil {
				return err
			}
		} else if len(ids) == 0 || selected != "" && selected != "both" {
			continue
		}
		run := &phaseRun{judge: k.Trials.Prepare(&t.Saved, p, t.enforced), counts: dryRunPhaseView{Phase: p}}
		for _, id := range ids {
			run.checks = append(run.checks, dryRunCheckView{ID: id, Phase: p})
		}
		d.phases = append(d.phases, run)
	}
	return nil
}

// all runs the guardrail on the traffic, one page at a time, until its end, the limit or the time
// limit.
func (d *guardrailRun) all(ctx context.Context) error {
	limited, stop := context.WithTimeout(ctx, trialTime)
	defer stop()
	err := d.pages(limited)
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		d.cut = "time"
		return nil
	}
	return err
}

func (d *guardrailRun) pages(ctx context.Context) error {
	for {
		d.query.Limit = min(record.MaxLimit, d.limit-d.read)
		page, err := d.logs.List(ctx, d.query)
		if err != nil {
			return err
		}
		if err := d.page(ctx, page.Rows); err != nil {
			return err
		}
		switch {
		case page.Next == "":
			return nil
		case d.read >= d.limit:
			d.cut = "limit"
			return nil
		}
		d.query.After = page.Next
	}
}

// rowResult is what the guardrail decided about an attempt, by phase.
type rowResult struct {
	phases []phaseResult
	err    error
}

type phaseResult struct {
	applies bool // the phase runs on such calls
	body    bool // the body is recorded completely
	outcome *trial.Outcome
	excerpt string
}

// page judges the attempts of a page with several workers and counts their results in order. Those
// that were judged before an error count.
func (d *guardrailRun) page(ctx context.Context, rows []record.Attempt) error {
	for len(rows) > 0 {
		part := rows[:min(len(rows), dryRunWorkers)]
		rows = rows[len(part):]
		results := make([]rowResult, len(part))
		var wait sync.WaitGroup
		for i := range part {
			wait.Go(func() { results[i] = d.row(ctx, &part[i]) })
		}
		wait.Wait()
		for i := range part {
			if err := results[i].err; err != nil {
				return err
			}
			d.count(&part[i], &results[i])
		}
	}
	return nil
}

// row runs the phases on an attempt of the list. Attempts that this gateway did not serve, and those
// without a call for a model, have no phases.
func (d *guardrailRun) row(ctx context.Context, listed *record.Attempt) (out rowResult) {
	if !listed.Source.Served() {
		return out
	}
	a, err := d.logs.Find(ctx, listed.OrgID, listed.WorkspaceID, listed.ID)
	switch {
	case fault.Has(err, fault.NotFound), err == nil && d.ownUser != "" && a.UserID != d.ownUser: // deleted since the list
		return out
	case err != nil:
		return rowResult{err: err}
	}
	c, request, response := caseOf(&a)
	out.phases = make([]phaseResult, len(d.phases))
	for i, p := range d.phases {
		r := &out.phases[i]
		r.applies, r.body = d.applies(&a, p.counts.Phase, request)
		if p.counts.Phase == guardrail.Output {
			r.body = response
		}
		if !r.applies || !r.body {
			continue
		}
		if r.outcome, out.err = p.judge(ctx, c); out.err != nil {
			return out
		}
		r.excerpt = excerptOf(c, p.counts.Phase)
	}
	return out
}

// applies reports whether a phase runs on calls such as an attempt. Attempts that were refused before
// a target was chosen have no body and do not count. Output is judged if the client received it.
func (d *guardrailRun) applies(a *record.Attempt, p guardrail.Phase, hasRequest bool) (applies, body bool) {
	if !d.trials.Applies(a.Endpoint, a.Path, p) {
		return false, false
	}
	if p == guardrail.Output {
		return a.Status == 200 || a.Status == 246, false
	}
	return hasRequest || a.Outcome != record.Refused, hasRequest
}

// caseOf returns what a guardrail judges of an attempt, and whether its request and its response are
// recorded completely.
func caseOf(a *record.Attempt) (c *trial.Case, request, response bool) {
	sent, answered := a.Shaped(), &a.Response
	if a.ClientResponse.Other() {
		answered = &a.ClientResponse
	}
	c = &trial.Case{
		Endpoint: a.Endpoint, Path: a.Path, Provider: a.Provider, Model: a.Model, Metadata: a.Metadata, TraceID: a.TraceID, Stream: a.Stream,
		Request: completeBody(sent), Response: completeBody(answered),
	}
	return c, c.Request != nil, c.Response != nil
}

// completeBody returns a recorded body; nil if it is absent, truncated or too large.
func completeBody(b *record.Body) []byte {
	if len(b.Bytes) == 0 || b.Truncated {
		return nil
	}
	plain := b.Plain(maxJudged + 1)
	if len(plain) > maxJudged {
		return nil
	}
	return plain
}

// textPaths are where the last text of a body is, by preference.
var textPaths = map[guardrail.Phase][]string{
	guardrail.Input:  {"messages.@reverse.0.content", "input", "prompt", "query"},
	guardrail.Output: {"choices.0.message.content", "choices.0.text", "content.0.text", "output.0.content.0.text", "text"},
}

// excerptOf returns the beginning of the last text of a body; of a body in another form its own
// beginning.
func excerptOf(c *trial.Case, p guardrail.Phase) string {
	body := c.Request
	if p == guardrail.Output {
		body = c.Response
	}
	for _, path := range textPaths[p] {
		if text := gjson.GetBytes(body, path); text.Exists() && text.Type != gjson.Null {
			return jsonfield.Clip(text.String(), dryRunExcerpt)
		}
	}
	return jsonfield.Clip(string(body), dryRunExcerpt)
}

// count adds the result of an attempt.
func (d *guardrailRun) count(a *record.Attempt, r *rowResult) {
	d.read++
	for i := range r.phases {
		if r.phases[i].applies {
			d.countPhase(a, d.phases[i], &r.phases[i])
		}
	}
}

func (d *guardrailRun) countPhase(a *record.Attempt, p *phaseRun, r *phaseResult) {
	n, out := &p.counts, r.outcome
	switch {
	case !r.body:
		n.WithoutBody++
		return
	case out.Unread:
		n.Unreadable++
		return
	}
	n.Judged++
	sample := dryRunSampleView{
		LogID: a.ID, CreatedAt: resource.Stamp(a.Started), Model: a.Model, Phase: n.Phase, Verdict: !out.Denied && !out.Failed, Checks: []string{}, Excerpt: r.excerpt,
	}
	errored := p.countChecks(out, &sample)
	for _, kind := range []struct {
		is      bool
		count   *int
		samples *[]dryRunSampleView
	}{
		{out.Denied, &n.WouldDeny, &d.samples.WouldDeny}, {out.Failed, &n.WouldFail, &d.samples.WouldFail},
		{out.Body != nil, &n.WouldChange, &d.samples.WouldChange}, {errored, &n.Errors, &d.samples.Errors},
	} {
		if !kind.is {
			continue
		}
		if *kind.count++; len(*kind.samples) < dryRunSamples {
			*kind.samples = append(*kind.samples, sample)
		}
	}
}

// countChecks counts the checks of an outcome, and adds those to a sample that are the reason for it.
// It reports whether one of them could not judge.
func (p *phaseRun) countChecks(out *trial.Outcome, sample *dryRunSampleView) (errored bool) {
	for i := range out.Checks {
		c := &out.Checks[i]
		if i < len(p.checks) {
			n := &p.checks[i]
			n.Judged++
			n.Failed += jsonfield.Bit(!c.Verdict && !c.Errored)
			n.Changed += jsonfield.Bit(c.Transformed)
			n.Errors += jsonfield.Bit(c.Errored)
		}
		errored = errored || c.Errored
		if !c.Verdict || c.Errored || c.Transformed {
			sample.Checks = append(sample.Checks, c.ID)
		}
	}
	return errored
}

// view returns the counts so far.
func (d *guardrailRun) view() guardrailDryRunView {
	v := guardrailDryRunView{
		Object: "guardrail_dry_run", From: resource.Stamp(d.query.From), To: resource.Stamp(d.query.To), Truncated: d.cut, Read: d.read,
		Phases: []dryRunPhaseView{}, Checks: []dryRunCheckView{},
		Samples: dryRunSamplesView{
			jsonfield.OrEmpty(d.samples.WouldDeny), jsonfield.OrEmpty(d.samples.WouldFail), jsonfield.OrEmpty(d.samples.WouldChange), jsonfield.OrEmpty(d.samples.Errors),
		},
	}
	for _, p := range d.phases {
		v.Phases = append(v.Phases, p.counts)
		v.Checks = append(v.Checks, p.checks...)
	}
	return v
}
