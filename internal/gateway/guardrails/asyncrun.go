package guardrails

import (
	"context"
	"slices"
	"sync"
	"time"

	"sluice/internal/domain/guardrail"
)

// StreamedAnswer is the text of a streamed answer, for the asynchronous hooks of its call. It is
// immutable.
type StreamedAnswer struct {
	texts   []string
	regular int // number of texts that are the answer itself; they come first
	partial bool
	removed removed
}

// Partial reports whether text is missing, because the answer was longer than the gateway keeps of one.
func (a *StreamedAnswer) Partial() bool { return a.partial }

// Bytes returns the size of the text.
func (a *StreamedAnswer) Bytes() (n int) {
	for _, t := range a.texts {
		n += len(t)
	}
	return n
}

// RunAsync runs asynchronous hooks on a body. They change and deny nothing. The error is that of ctx.
func (e *Engine) RunAsync(ctx context.Context, hooks []*Hook, c *Call, p guardrail.Phase, status int, body []byte) ([]Result, error) {
	out, err := e.Run(ctx, observing(hooks), c, p, status, body)
	if err != nil {
		return nil, err
	}
	return observed(out.Results), nil
}

// RunAsyncStream runs asynchronous output hooks on the answer of a stream, at once. They read the texts
// that other hooks of a stream read. The error is that of ctx.
func (e *Engine) RunAsyncStream(ctx context.Context, hooks []*Hook, c *Call, a *StreamedAnswer) ([]Result, error) {
	j := e.Stream(observing(hooks), c)
	var wait sync.WaitGroup
	for _, s := range j.states {
		wait.Go(func() { j.run(ctx, s, a.texts, a.regular) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.removed = a.removed // results must not quote what was redacted for the client
	j.finish(false)
	return observed(j.outcome.Results), nil
}

// observing returns copies of asynchronous hooks that run now and decide nothing.
func observing(hooks []*Hook) []*Hook {
	list := make([]*Hook, len(hooks))
	for i, h := range hooks {
		now := *h
		now.Async, now.Deny = false, false
		list[i] = &now
	}
	return list
}

// observed marks results as those of asynchronous hooks, whose changes are dropped.
func observed(list []Result) []Result {
	for i := range list {
		r := &list[i]
		r.Async, r.Transformed = true, false
		for k := range r.Checks {
			r.Checks[k].Transformed = false
		}
	}
	return list
}

// NotRun returns the results of asynchronous hooks that could not judge a call, with the reason.
func NotRun(hooks []*Hook, reason string, at time.Time) []Result {
	list := slices.Clone(SkippedBy(hooks))
	for i := range list {
		list[i].Async, list[i].Reason, list[i].CreatedAt = true, reason, at.UTC()
	}
	return list
}
