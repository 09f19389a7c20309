package gateway

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/netguard"
)

// judgement is what guardrails decided about an attempt. guardrailStep writes it.
type judgement struct {
	hooks       *guardrails.Set     // that apply to the attempt; nil for none
	results     guardrails.Results  // of the hooks that ran
	hookHeaders wire.Header         // fields for the upstream request that hooks added
	formTexts   map[string][]string // fields of the form that hooks changed; nil for none
	withParams  bool                // the request that hooks changed has the parameters of the target
	failed      bool                // a hook failed without a denial: status 246
	denied      bool                // a hook denied the call
	softDenied  bool                // the denial has status 200
	redacted    bool                // a hook changed the response, so the upstream's must not be recorded
	cleared     bool                // all input hooks that redact ran
	restoration
	failedAfter  bool // an output hook failed without a denial
	failedInput  bool // an input hook failed without a denial
	judgedOutput bool // output hooks judged the response
}

// inputJudgement returns the part that input hooks decided, for a repetition of the attempt.
func (j *judgement) inputJudgement() judgement {
	return judgement{hooks: j.hooks, cleared: j.cleared, restoration: restoration{vault: j.vault}, results: guardrails.Results{Before: guardrails.Reused(j.results.Before)}, hookHeaders: j.hookHeaders, formTexts: j.formTexts, withParams: j.withParams, failed: j.failedInput, failedInput: j.failedInput}
}

// guardrailStep runs the guardrails and mutators of calls.
type guardrailStep struct {
	engine       *guardrails.Engine // nil if guardrails are off
	accountant   *accountant
	responses    *responseReader
	shaper       *shaper
	checks       *guardrail.Table
	guard        *netguard.Guard
	clock        ident.Clock
	spoolDir     string
	maxBytes     int64 // limit of a response that is buffered for hooks
	bodyLogBytes int
	placeholders *placeholder.Store // nil: what reversible redaction replaces is not restored
	log          *slog.Logger
	sets         hookSets
	async        *asyncHooks
	stored       storedDenials
}

// hookSets caches the hooks of targets for one snapshot.
type hookSets struct {
	mu        sync.RWMutex // guards what follows
	directory Directory
	known     map[hookSetKey]*guardrails.Set
}

type hookSetKey struct {
	target    *routing.Target
	workspace string
}

// maxHookSets bounds the cache: inline configs have targets of their own.
const maxHookSets = 4096

// find returns the hooks of an attempt.
func (s *hookSets) find(e *guardrails.Engine, a *attempt) *guardrails.Set {
	x := a.x
	if len(a.target.Before)+len(a.target.After) == 0 && !hasDefaults(x.scope) {
		return nil // without a lock: most calls have no hooks
	}
	k := hookSetKey{a.target, x.key.Principal.WorkspaceID}
	s.mu.RLock()
	set, known := s.known[k]
	known = known && s.directory == x.dir
	s.mu.RUnlock()
	if known {
		return set
	}
	set = e.Hooks(x.dir, k.workspace, x.scope, a.target)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.directory != x.dir || len(s.known) >= maxHookSets {
		s.directory, s.known = x.dir, make(map[hookSetKey]*guardrails.Set)
	}
	s.known[k] = set
	return set
}

// hasDefaults reports whether guardrails run on every call of a workspace.
func hasDefaults(s *tenant.Scope) bool {
	return s != nil && len(s.InputGuardrails)+len(s.OutputGuardrails) > 0
}

// restore gives the attempt the caller's request again, if hooks of an earlier attempt changed it.
func (s *guardrailStep) restore(_ context.Context, a *attempt) error {
	if x := a.x; x.unjudged != nil {
		x.spool, x.doc = x.unjudged.spool, x.unjudged.doc
		x.unjudged = nil
	}
	return nil
}

// judgeRequest runs the input hooks of an attempt. A denial is fault.GuardrailDenied. Changes of hooks
// replace the request for this attempt.
// Source: contract/dataplane.md 5.3 and 9.
func (s *guardrailStep) judgeRequest(ctx context.Context, a *attempt) error {
	if s.engine == nil || a.x.inner != nil {
		return nil
	}
	a.hooks = s.sets.find(s.engine, a)
	if a.hooks.Empty() || !judged(a.x) {
		a.hooks = nil
		return nil
	}
	s.openVault(ctx, a)
	c := s.call(a)
	if len(a.hooks.Before) == 0 || readsText(a.x) {
		return s.checkReadableResponse(a, c)
	}
	body, err := s.requestText(a)
	if err != nil {
		return err
	}
	if a.x.memo == nil {
		a.x.memo = new(guardrails.Memo)
	}
	c.Memo = a.x.memo
	c.BeforePaid = func(costNano int64) error { return s.affordable(ctx, a, costNano) }
	out, err := s.engine.Run(s.serving(ctx, a, a.hooks.Before), a.hooks.Before, c, guardrail.Input, 0, body)
	if err != nil {
		return clientGone(ctx, err)
	}
	a.results.Before = out.Results
	if out.Unpaid != nil {
		return out.Unpaid
	}
	a.hookHeaders, a.failed, a.failedInput = out.Headers, out.Failed, out.Failed
	if out.Body != nil {
		if err := s.replaceRequest(a, out.Body); err != nil {
			return err
		}
		body, a.withParams = out.Body, a.x.form == nil
	}
	a.cleared = !out.Unredacted
	s.keepValues(ctx, a)
	s.async.start(a, out.Later, s.call(a), guardrail.Input, 0, body)
	if out.Denied {
		return a.deny(out)
	}
	return s.checkReadableResponse(a, c)
}

// serving returns a context in which paid checks make calls for the caller of an attempt, and are paid
// by it.
func (s *guardrailStep) serving(ctx context.Context, a *attempt, hooks []*guardrails.Hook) context.Context {
	if !slices.ContainsFunc(hooks, (*guardrails.Hook).Paid) {
		return ctx
	}
	s.accountant.setModelFromPath(a) // policies apply to it
	return withCaller(ctx, a)
}

// deny returns the error of a denial.
func (a *attempt) deny(out *guardrails.Outcome) error {
	a.denied, a.softDenied = true, out.SoftDeny
	return fault.New(fault.GuardrailDenied, denialText(out))
}

// denialText returns the message of a denial.
func denialText(out *guardrails.Outcome) string {
	if out.Message != "" {
		return out.Message
	}
	return "the guardrail checks failed, and the guardrail denies such calls"
}

// judged reports whether hooks run on a call: Judged, and its body can be looked at.
func judged(x *exchange) bool {
	switch x.match.Endpoint {
	case llm.GetModelResponse:
		return readsText(x)
	case llm.Proxy:
		return x.match.Body != llm.NoBody && (x.spool != nil && x.spool.Len() > 0 || x.direct != nil || x.form != nil) || readsText(x)
	}
	return Judged(x.match.Endpoint)
}

// Judged reports whether hooks run on the calls of an endpoint: those that carry text for a model.
// Source: contract/dataplane.md 5.3, and ours for the endpoints beside the conversations.
func Judged(ep llm.Endpoint) bool {
	switch ep {
	case llm.ChatComplete, llm.Complete, llm.Embed, llm.Messages, llm.MessagesCountTokens, llm.CreateModelResponse, llm.CountResponseInputTokens,
		llm.ImageGenerate, llm.ImageEdit, llm.CreateSpeech, llm.CreateTranscription, llm.CreateTranslation, llm.Rerank, llm.Moderate, llm.OCR, llm.Realtime, llm.Proxy:
		return true
	}
	return false
}

// call describes the attempt for its hooks.
func (s *guardrailStep) call(a *attempt) *guardrails.Call {
	x := a.x
	c := &guardrails.Call{
		Endpoint: x.match.Endpoint, Shape: bodyShape(x), Provider: a.spec.ID, Model: a.model, Metadata: x.metadata, Header: x.req.Header,
		TraceID: x.trace.ID, Streaming: a.wantsStream(), PassUnreadable: x.scope != nil && x.scope.PassUnreadable, Vault: a.vault,
	}
	if x.doc != nil {
		c.Request = x.doc.Source()
	}
	return c
}

// replaceRequest makes a body that hooks changed the request of this attempt. Hooks cannot change the
// model: its permission was checked.
func (s *guardrailStep) replaceRequest(a *attempt, body []byte) error {
	x := a.x
	if x.form != nil {
		a.replaceFormTexts(body)
		return nil
	}
	d := jsonedit.GetDoc()
	if err := jsonedit.Scan(body, d); err != nil {
		jsonedit.PutDoc(d)
		return fault.New(fault.GuardrailDenied, "a guardrail changed the request to a body that is not a JSON object").WithCause(err)
	}
	if x.doc != nil {
		was, _ := x.doc.Raw("model")
		if now, _ := d.Raw("model"); string(now) != string(was) && was != nil {
			body = d.Apply([]jsonedit.Edit{jsonedit.Set("model", was)})
			if err := jsonedit.Scan(body, d); err != nil {
				return fault.Wrap(fault.Internal, err)
			}
		}
	}
	spool := wire.NewSpool(s.spoolDir)
	if _, err := spool.Write(body); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	raw, err := spool.Bytes()
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	if err := jsonedit.Scan(raw, d); err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	if x.unjudged == nil {
		x.unjudged = &attemptInput{x.match, x.path, x.spool, x.doc}
	}
	x.made = append(x.made, spool)
	x.spool, x.doc = spool, d
	return nil
}

// affordable reports whether the limits of the target would admit the call after its checks are paid,
// before the first of them runs. It reserves nothing.
func (s *guardrailStep) affordable(ctx context.Context, a *attempt, checksNano int64) error {
	if !a.x.limits.IsMetered() {
		return nil
	}
	if err := s.shaper.shape(ctx, a); err != nil || a.estimated {
		return err
	}
	return s.accountant.probe(ctx, a, checksNano)
}
