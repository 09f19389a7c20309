package gateway

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
)

// Limits of asynchronous hooks. (ours)
const (
	maxAsyncHooks    = 256              // phases of calls whose hooks run at once
	maxAsyncBytes    = 64 << 20         // of the texts that they read, together
	asyncHookTimeout = 60 * time.Second // for the hooks of one phase
	asyncHookGrace   = time.Second      // at shutdown, to record the hooks that the gateway ends
)

// asyncHooks runs hooks beside the calls that they judge. Their results change nothing: they are only
// recorded, see asyncResults. Hooks that would exceed a limit do not run and are recorded as skipped.
// It is safe for concurrent use.
// Source: contract/dataplane.md 5.1.
type asyncHooks struct {
	engine   *guardrails.Engine
	journal  journal
	feedback feedbackSink
	metrics  *Metrics
	clock    ident.Clock
	log      *slog.Logger
	slots    chan struct{} // one for each running phase
	bytes    atomic.Int64  // that they read
	ended    chan struct{} // closed when running hooks must end
	opening  sync.Mutex    // guards asyncResults of attempts: conversations judge both directions at once
}

func newAsyncHooks(g *Gateway) *asyncHooks {
	return &asyncHooks{
		engine: g.Guardrails, journal: g.Journal, feedback: g.Feedback, metrics: g.Metrics, clock: g.Clock, log: g.Log,
		slots: make(chan struct{}, maxAsyncHooks), ended: make(chan struct{}),
	}
}

// start runs hooks on a copy of a body.
func (h *asyncHooks) start(a *attempt, hooks []*guardrails.Hook, c *guardrails.Call, p guardrail.Phase, status int, body []byte) {
	h.launch(a, hooks, p, len(body)+len(c.Request), func() asyncRun {
		call, text := ownCall(c), bytes.Clone(body)
		return func(ctx context.Context) ([]guardrails.Result, error) {
			return h.engine.RunAsync(ctx, hooks, call, p, status, text)
		}
	})
}

// startOnStream runs the asynchronous hooks of a streamed answer, which has ended.
func (h *asyncHooks) startOnStream(a *attempt, o *guardrails.Outcome, c *guardrails.Call) {
	if o.Answer == nil {
		return
	}
	if o.Answer.Partial() {
		h.skip(h.resultsOf(a), o.Later, guardrail.Output, errAsyncTooLong)
		return
	}
	h.launch(a, o.Later, guardrail.Output, o.Answer.Bytes()+len(c.Request), func() asyncRun {
		call := ownCall(c)
		return func(ctx context.Context) ([]guardrails.Result, error) {
			return h.engine.RunAsyncStream(ctx, o.Later, call, o.Answer)
		}
	})
}

// asyncRun runs the hooks of one phase. Its error is that of ctx.
type asyncRun func(ctx context.Context) ([]guardrails.Result, error)

// launch runs hooks that read size bytes. prepare copies what they read; it is called only if they run.
func (h *asyncHooks) launch(a *attempt, hooks []*guardrails.Hook, p guardrail.Phase, size int, prepare func() asyncRun) {
	if len(hooks) == 0 {
		return
	}
	results := h.resultsOf(a)
	if reason := h.acquire(int64(size)); reason != nil {
		h.skip(results, hooks, p, reason)
		return
	}
	run, rating, parent := prepare(), raterOf(h.feedback, a.x), withCaller(context.Background(), a)
	go func() {
		defer h.release(int64(size))
		ctx, cancel := context.WithCancelCause(parent)
		defer cancel(nil)
		go h.endWhenDue(ctx, cancel)
		list, err := run(ctx)
		if err != nil {
			h.skip(results, hooks, p, context.Cause(ctx))
			return
		}
		if h.feedback != nil {
			rating.rate(list)
		}
		h.record(results, p, list)
	}()
}

// endWhenDue ends hooks that run for too long, or when the gateway stops. It returns when ctx ends.
func (h *asyncHooks) endWhenDue(ctx context.Context, cancel context.CancelCauseFunc) {
	timer := time.NewTimer(asyncHookTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		cancel(errAsyncTimeout)
	case <-h.ended:
		cancel(errAsyncStopped)
	case <-ctx.Done():
	}
}

// Reasons why an asynchronous hook did not run. Their texts are in the log of the call.
var (
	errAsyncBusy    = errors.New("too many asynchronous guardrails were running")
	errAsyncTooLong = errors.New("the text is longer than asynchronous guardrails read")
	errAsyncTimeout = errors.New("the guardrail did not finish in time")
	errAsyncStopped = errors.New("the gateway stopped before the guardrail had finished")
)

// acquire takes a slot and the memory for hooks. It returns the reason if there is none.
func (h *asyncHooks) acquire(size int64) error {
	if size > maxAsyncBytes {
		return errAsyncTooLong
	}
	select {
	case h.slots <- struct{}{}:
	default:
		return errAsyncBusy
	}
	if h.bytes.Add(size) > maxAsyncBytes {
		h.release(size)
		return errAsyncBusy
	}
	return nil
}

func (h *asyncHooks) release(size int64) {
	h.bytes.Add(-size)
	<-h.slots
}

// skip records hooks that did not judge the call.
func (h *asyncHooks) skip(r *asyncResults, hooks []*guardrails.Hook, p guardrail.Phase, reason error) {
	h.metrics.skippedHooks(reason)
	h.record(r, p, guardrails.NotRun(hooks, reason.Error(), h.clock.Now()))
}

// finish waits until no hook runs, or until ctx ends. Hooks that still run then are ended and recorded
// as skipped. It must be called once, after all requests have ended.
func (h *asyncHooks) finish(ctx context.Context) {
	none := func() bool { return len(h.slots) == 0 }
	await(ctx, none)
	close(h.ended)
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), asyncHookGrace)
	defer stop()
	await(grace, none)
}

// ownCall returns a copy of c that does not refer to memory of the request.
func ownCall(c *guardrails.Call) *guardrails.Call {
	copied := *c
	copied.Memo, copied.BeforePaid, copied.Vault = nil, nil, nil
	copied.Header, copied.Request = ownHeader(c.Header), bytes.Clone(c.Request)
	copied.Model, copied.TraceID = strings.Clone(c.Model), strings.Clone(c.TraceID)
	copied.Metadata = ownMetadata(c.Metadata)
	return &copied
}

func ownMetadata(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[strings.Clone(k)] = strings.Clone(v)
	}
	return out
}

// ownHeader returns a copy that does not refer to memory of the request.
func ownHeader(h wire.Header) wire.Header {
	out := h.Clone(0)
	for i := range out {
		out[i].Name, out[i].Value = strings.Clone(out[i].Name), strings.Clone(out[i].Value)
	}
	return out
}
