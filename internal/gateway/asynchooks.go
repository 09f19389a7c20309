package gateway

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/kernel/wire"
)

// Limits of asynchronous hooks. (ours)
const (
	maxAsyncHooks    = 256              // at once; more are dropped and counted
	asyncHookTimeout = 60 * time.Second // for the hooks of one phase
)

// asyncHooks runs hooks beside the calls that they judge. Their results are only logged.
// Source: contract/dataplane.md 5.1.
type asyncHooks struct {
	engine   *guardrails.Engine
	feedback feedbackSink
	log      *slog.Logger
	slots    chan struct{}
	open     sync.WaitGroup
}

func newAsyncHooks(e *guardrails.Engine, feedback feedbackSink, log *slog.Logger) *asyncHooks {
	return &asyncHooks{engine: e, feedback: feedback, log: log, slots: make(chan struct{}, maxAsyncHooks)}
}

// start runs hooks on a copy of a body.
func (h *asyncHooks) start(a *attempt, hooks []*guardrails.Hook, c *guardrails.Call, p guardrail.Phase, status int, body []byte) {
	if len(hooks) == 0 {
		return
	}
	select {
	case h.slots <- struct{}{}:
	default:
		h.log.Warn("too many asynchronous guardrails run; this call is not judged by them", "request_id", a.x.id, "limit", maxAsyncHooks)
		return
	}
	copied := *c
	copied.Memo, copied.BeforePaid, copied.Vault = nil, nil, nil
	copied.Header, copied.Request = ownHeader(c.Header), append([]byte(nil), c.Request...)
	copied.Model, copied.TraceID = strings.Clone(c.Model), strings.Clone(c.TraceID)
	copied.Metadata = ownMetadata(c.Metadata)
	text := append([]byte(nil), body...)
	rating := raterOf(h.feedback, a.x)
	id, parent := a.x.id, withCaller(context.Background(), a)
	h.open.Go(func() {
		defer func() { <-h.slots }()
		ctx, cancel := context.WithTimeout(parent, asyncHookTimeout)
		defer cancel()
		results, err := h.engine.RunAsync(ctx, hooks, &copied, p, status, text)
		if err != nil {
			h.log.Warn("asynchronous guardrails failed", "request_id", id, "error", err.Error())
			return
		}
		if h.feedback != nil {
			rating.rate(results)
		}
		for i := range results {
			h.log.Info("asynchronous guardrail finished", "request_id", id, "guardrail", results[i].ID, "phase", string(p), "verdict", results[i].Verdict)
		}
	})
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
