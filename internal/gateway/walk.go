package gateway

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
)

// walker makes attempts at the targets of a config until one succeeds.
type walker struct {
	recorder    *recorder
	guardrails  *guardrailStep
	prompts     *promptRenderer
	credentials *credentialResolver
	shaper      *shaper
	accountant  *accountant
	sender      *sender
	receiver    *receiver
	deliverer   *deliverer
	cache       *responseCache
	promptCache *promptCacher
	states      *responsestore.Store
	responder   *responder
	catalogue   *modelCatalogue
	bodies      *bodyReader
	batches     *managedBatches
	engine      *routing.Engine
	clock       ident.Clock
}

// walk lets the strategy of the config choose targets until one succeeds or none is left. The
// last attempt remains in x.last for respond.
func (w *walker) walk(ctx context.Context, x *exchange) error {
	if w.states.Serves(x.match) {
		return w.responder.serveStoredResponse(ctx, x)
	}
	if w.batches.serves(x) {
		return w.batches.respond(ctx, x)
	}
	if err := w.guardrails.stored.refuse(ctx, x); err != nil {
		return err
	}
	if x.asksModels() && wantsCatalogue(x) {
		return w.catalogue.respondModelList(ctx, x)
	}
	if x.match.Endpoint == llm.RetrieveModel {
		x.accountInPath()
	}
	if mayRepeat(x.config) {
		if err := w.bodies.holdDirect(x); err != nil {
			return err
		}
	}
	scope := ""
	if !x.config.IsStateless() {
		scope = x.key.Principal.WorkspaceID + "/" + x.configID
	}
	_, err := w.engine.Walk(ctx, x.config, scope, conditionInputs{x}, x.scratch.visit)
	return err
}

// mayRepeat reports whether a request routed by c may be sent more than once.
func mayRepeat(c *routing.Config) bool {
	t := c.Root.Target
	return t == nil || t.Retry != nil && t.Retry.Attempts > 0
}

// attemptTarget calls a target until it responds and its output hooks do not request a repetition, and
// returns the outcome to the strategy.
func (w *walker) attemptTarget(ctx context.Context, x *exchange, t *routing.Target) routing.Outcome {
	a, err := w.attempt(ctx, x, t, repetition{})
	for {
		again, ok := w.repeats(ctx, a)
		if !ok {
			return outcomeOfAttempt(a, err)
		}
		a, err = w.attempt(ctx, x, t, again)
	}
}

// attempt makes one attempt at a target.
func (w *walker) attempt(ctx context.Context, x *exchange, t *routing.Target, again repetition) (*attempt, error) {
	if x.last != nil {
		w.recorder.discard(x.last)
	}
	a := &x.scratch.attempt
	a.reset() // a literal would be built on the stack, which keeps its size while a stream waits
	a.x, a.target, a.number, a.started = x, t, x.attempts, w.clock.Now()
	a.strict = x.ctl.Strict != "false" && (t.Strict == nil || *t.Strict)
	a.repetition = again
	if x.attempts == 0 {
		x.walked = a.started
	}
	x.attempts++
	x.last = a
	return a, w.try(ctx, a)
}

// outcomeOfAttempt returns what the strategy reads of an attempt.
func outcomeOfAttempt(a *attempt, err error) routing.Outcome {
	o := routing.Outcome{Status: cmp.Or(a.failing, a.status), FromGateway: a.estimated, Committed: a.committed, Err: err, Latency: a.firstByte}
	o.Ended, o.Final = a.committed && !a.canContinue, a.outlives.IsDetached()
	if f := fault.From(err); f != nil {
		o.UpstreamFailed = f.Code == fault.UpstreamUnreachable || f.Code == fault.UpstreamFailed || f.Code == fault.UpstreamTimeout
		o.Garbled = f.Code == fault.UpstreamInvalid
		o.Status, o.Final = f.HTTPStatus(), o.Final || f.Code == fault.ClientGone || metering.IsCallerRefusal(f)
		o.Skipped = f.Code == fault.NotSupported || o.Garbled || f.Code == fault.SecretUnavailable
	}
	return o
}

// repetition is what a repeated attempt takes over from the one before it. Input hooks do not run
// again. The zero value is a first attempt.
type repetition struct {
	repeated bool
	tries    int // retries so far, of the provider's calls and of output hooks
	input    judgement
}

// repeats reports whether the output hooks of an attempt failed with a status that the target retries.
// It waits before the repetition.
// Source: contract/dataplane.md 4.1.
func (w *walker) repeats(ctx context.Context, a *attempt) (repetition, bool) {
	status := a.status
	if !a.judgedOutput || a.committed || status != statusHooksFailed && !a.denied {
		return repetition{}, false
	}
	wait, again, _ := a.target.Retry.Next(routing.Tried{Retries: a.retries, Status: status}, w.clock.Now())
	if !again || !a.body.Replayable() {
		if a.target.Retry != nil && slices.Contains(a.target.Retry.OnStatus, status) && a.target.Retry.Attempts > 0 {
			a.retried = -1
		}
		return repetition{}, false
	}
	if background.Sleep(ctx, wait) != nil {
		return repetition{}, false
	}
	return repetition{repeated: true, tries: a.retries + 1, input: a.inputJudgement()}, true
}

// discard ends an attempt whose response is not sent because the walk continues.
func (re *recorder) discard(a *attempt) {
	re.record(a, a.recordedOutcome())
	a.close()
}

// finish turns the error of an attempt into its fault and its record. A failure is recorded
// immediately. A successful attempt is recorded when its response is sent.
func (re *recorder) finish(a *attempt, err error) {
	if err == nil {
		return
	}
	a.fault = fault.From(err)
	a.status = a.fault.HTTPStatus()
	re.record(a, outcomeOf(a.fault))
}

func outcomeOf(f *fault.Error) record.Outcome {
	switch f.Code {
	case fault.UpstreamTimeout:
		return record.Timeout
	case fault.UpstreamUnreachable, fault.UpstreamFailed:
		return record.Unreachable
	case fault.UpstreamInvalid:
		return record.Invalid
	case fault.ClientGone:
		return record.ClientGone
	case fault.TooLarge: // detected after a part of it was sent
		return record.Failed
	default:
		if ofBody(f) { // also after a part of it was sent
			return record.Failed
		}
		return record.Refused
	}
}

// clientGone returns the error of a client that disconnected. An upstream failure caused by the
// disconnect counts as the same.
func clientGone(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Wrap(fault.ClientGone, err)
	}
	return err
}
