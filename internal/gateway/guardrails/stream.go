package guardrails

import (
	"context"
	"slices"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/guardedstream"
)

// StreamJudge judges the stream of an answer with the output hooks of a call. It implements
// guardedstream.Judge and belongs to one goroutine.
type StreamJudge struct {
	engine *Engine
	call   *Call
	states []*hookState
	window int
	hold   bool
	// OnFinish is called once, when the complete answer is judged, with the outcome of all hooks. It
	// returns the events that follow the stream; nil for none.
	OnFinish func(o *Outcome) []byte

	denied  *Hook // the hook that denied the answer
	done    bool
	outcome Outcome
	removed removed
}

// hookState is what a hook decided so far about a stream.
type hookState struct {
	hook    *Hook
	mode    string
	started time.Time
	took    time.Duration
	results []CheckResult
	edited  bool
}

// Stream returns the judge of a stream.
func (e *Engine) Stream(hooks []*Hook, c *Call) *StreamJudge {
	j := &StreamJudge{engine: e, call: c}
	for _, h := range hooks {
		if h.Async {
			if !h.Mutator {
				j.outcome.Later = append(j.outcome.Later, h)
			}
			continue
		}
		s := &hookState{hook: h, mode: h.StreamMode(), started: e.clock.Now(), results: make([]CheckResult, len(h.checks))}
		for i := range h.checks {
			s.results[i] = CheckResult{ID: h.checks[i].id, Verdict: true, CreatedAt: s.started.UTC(), FailOnError: h.checks[i].failOnError != nil && *h.checks[i].failOnError}
		}
		switch s.mode {
		case StreamWindow:
			j.window = max(j.window, h.window())
		case StreamHold:
			j.hold = true
		}
		j.states = append(j.states, s)
	}
	return j
}

// Window implements guardedstream.Judge.
func (j *StreamJudge) Window() int { return j.window }

// Hold implements guardedstream.Judge.
func (j *StreamJudge) Hold() bool { return j.hold }

// Piece implements guardedstream.Judge. It runs the hooks that judge windows.
func (j *StreamJudge) Piece(ctx context.Context, p guardedstream.Piece) (v guardedstream.Verdict) {
	text := plainText(p.Channel, p.Text)
	var edits []change
	for _, s := range j.states {
		if s.mode != StreamWindow {
			continue
		}
		edits = append(edits, j.run(ctx, s, []string{text.plain}, 1)...)
		if j.denies(s) {
			return guardedstream.Verdict{Deny: true}
		}
	}
	for _, e := range j.replaced(text.plain, edits) {
		if out, ok := placed(p.Channel, &text, e, p.Context); ok {
			v.Edits = append(v.Edits, out)
		}
	}
	return v
}

// plainText returns the text of a channel as checks read it.
func plainText(c guardedstream.Channel, text string) escapedText {
	if c.Kind == guardedstream.KindArguments {
		return unescape(text)
	}
	return escapedText{plain: text, length: len(text)}
}

// placed converts an edit of the plain text to one of the channel's text.
func placed(c guardedstream.Channel, t *escapedText, e check.Edit, released int) (guardedstream.Edit, bool) {
	start, end := t.original(e.Start, e.End)
	out := guardedstream.Edit{Start: max(start, released), End: end, With: e.With}
	if c.Kind == guardedstream.KindArguments {
		out.With = escaped(e.With)
	}
	return out, out.End > out.Start || start >= released
}

// regularFirst moves the texts of the answer itself before those that only repeat or describe it: log
// probabilities, and texts in unknown members. It returns the number of the former.
func regularFirst(a *guardedstream.Answer) int {
	isOther := func(t guardedstream.Text) bool {
		return t.Channel.Block < 0 || t.Channel.Kind == guardedstream.KindLogprobs
	}
	slices.SortStableFunc(a.Texts, func(x, y guardedstream.Text) int {
		switch {
		case isOther(x) == isOther(y):
			return 0
		case isOther(y):
			return -1
		}
		return 1
	})
	if n := slices.IndexFunc(a.Texts, isOther); n >= 0 {
		return n
	}
	return len(a.Texts)
}

// run runs the checks of a hook on texts and adds to its results. Checks that look for places in a text
// judge all of them; others, which count or classify, only the first ones, which are the answer
// itself. It returns the edits.
func (j *StreamJudge) run(ctx context.Context, s *hookState, all []string, regular int) (edits []change) {
	began := j.engine.clock.Now()
	in := &check.Input{
		Phase: guardrail.Output, Texts: all, Request: j.call.Request, Status: 200, Endpoint: j.call.Endpoint, Provider: j.call.Provider,
		Model: j.call.Model, Metadata: j.call.Metadata, Header: j.call.Header, TraceID: j.call.TraceID, Streaming: true,
	}
	in.Share()
	for i := range s.hook.checks {
		var r CheckResult
		if in.Texts = all; !s.hook.checks[i].searches() {
			in.Texts = all[:regular]
		}
		got := j.engine.check(ctx, &s.hook.checks[i], in, &r)
		s.results[i].merge(&r, len(got.Edits) > 0)
		edits = append(edits, s.hook.checks[i].changesOf(got.Edits)...)
		s.edited = s.edited || len(got.Edits) > 0
	}
	s.took += j.engine.clock.Now().Sub(began)
	return edits
}

// replaced returns changes of a text without overlaps, with what replaces each.
func (j *StreamJudge) replaced(text string, list []change) []check.Edit {
	changes := merged(text, list)
	out := make([]check.Edit, len(changes))
	for i := range changes {
		c := &changes[i]
		out[i] = c.Edit
		out[i].With = c.replacement(j.call.Vault, false, text)
		j.removed.add(text[c.Start:c.End], out[i].With)
	}
	return out
}

// merge adds the result for one chunk to the result for the stream.
func (r *CheckResult) merge(chunk *CheckResult, edited bool) {
	r.took += chunk.took
	r.TookMS = r.took.Milliseconds()
	r.CostNano += chunk.CostNano
	r.Transformed = r.Transformed || edited
	if r.Data == nil || r.Verdict && !chunk.Verdict {
		r.Data, r.Log = chunk.Data, chunk.Log
	}
	if r.Error == nil {
		r.Error = chunk.Error
	}
	r.Verdict = r.Verdict && chunk.Verdict
}

// denies reports whether a hook denies the answer by its results so far.
func (j *StreamJudge) denies(s *hookState) bool {
	if !s.hook.Deny || s.hook.Mutator || s.passes() {
		return false
	}
	if j.denied == nil {
		j.denied = s.hook
	}
	return true
}

func (s *hookState) passes() bool {
	for i := range s.results {
		if !s.hook.passes(&s.hook.checks[i], &s.results[i]) {
			return false
		}
	}
	return true
}

// Finish implements guardedstream.Judge. It runs the hooks that judge the complete answer.
func (j *StreamJudge) Finish(ctx context.Context, a *guardedstream.Answer) guardedstream.Final {
	var final guardedstream.Final
	if a.Denied && j.denied == nil {
		j.denied = j.firstDenying()
	}
	regular := regularFirst(a)
	texts := make([]string, len(a.Texts))
	plain := make([]escapedText, len(a.Texts))
	for i := range a.Texts {
		plain[i] = plainText(a.Texts[i].Channel, a.Texts[i].Text)
		texts[i] = plain[i].plain
	}
	var edits []change
	for _, s := range j.states {
		if s.mode == StreamWindow || a.Denied && s.hook.Paid() {
			continue
		}
		found := j.run(ctx, s, texts, regular)
		if s.mode == StreamHold {
			edits = append(edits, found...)
			final.Deny = j.denies(s) || final.Deny
		}
	}
	final.Edits = j.placedAll(a, plain, edits)
	if len(j.outcome.Later) > 0 {
		j.outcome.Answer = &StreamedAnswer{texts: texts, regular: regular, partial: a.Partial, removed: j.removed.clone()}
	}
	final.Trailer = j.finish(a.Denied || final.Deny)
	return final
}

// firstDenying returns the hook to name when the guard itself denied the answer: it was too large to
// be held.
func (j *StreamJudge) firstDenying() *Hook {
	for _, s := range j.states {
		if s.mode != StreamReport {
			return s.hook
		}
	}
	return nil
}

// placedAll converts edits of the plain texts to edits of the channels.
func (j *StreamJudge) placedAll(a *guardedstream.Answer, plain []escapedText, edits []change) map[guardedstream.Channel][]guardedstream.Edit {
	if len(edits) == 0 {
		return nil
	}
	byText := make(map[int][]change)
	for _, e := range edits {
		if e.Text >= 0 && e.Text < len(plain) {
			byText[e.Text] = append(byText[e.Text], e)
		}
	}
	out := make(map[guardedstream.Channel][]guardedstream.Edit)
	for at, list := range byText {
		c := a.Texts[at].Channel
		for _, e := range j.replaced(plain[at].plain, list) {
			if p, ok := placed(c, &plain[at], e, 0); ok {
				out[c] = append(out[c], p)
			}
		}
	}
	return out
}

// finish completes the results of the hooks.
func (j *StreamJudge) finish(denied bool) []byte {
	if j.done {
		return nil
	}
	j.done = true
	for _, s := range j.states {
		r := Result{
			ID: s.hook.ID, Type: s.hook.kind(), CreatedAt: s.started.UTC(), VersionID: s.hook.VersionID, Verdict: s.passes(), Checks: s.results,
			TookMS: s.took.Milliseconds(), Transformed: s.edited && s.mode != StreamReport,
		}
		r.Feedback = s.hook.feedback(r.Verdict, s.results)
		r.Deny = denied && s.hook == j.denied
		j.outcome.Failed = j.outcome.Failed || !r.Verdict && !s.hook.Mutator
		j.outcome.Results = append(j.outcome.Results, r)
		for i := range s.results {
			j.engine.metrics.ran(string(guardrail.Output), &s.results[i])
		}
	}
	j.removed.scrub(j.outcome.Results)
	if j.outcome.Denied = denied; denied {
		j.engine.metrics.denied.WithLabelValues(string(guardrail.Output)).Inc()
		if j.denied != nil {
			j.outcome.Message = j.denied.Message
		}
	}
	if j.OnFinish == nil {
		return nil
	}
	return j.OnFinish(&j.outcome)
}
