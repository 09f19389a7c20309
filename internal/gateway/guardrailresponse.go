package gateway

import (
	"context"
	"encoding/json"
	"strings"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// statusHooksFailed is the status of a response on which a hook failed without denying it.
// Source: contract/dataplane.md 5.4.
const statusHooksFailed = 246

// judgeResponse runs the output hooks on a complete response, and adds the results of all hooks to
// it. A stream is judged while it is relayed. A denial is fault.GuardrailDenied.
func (s *guardrailStep) judgeResponse(ctx context.Context, a *attempt) error {
	if a.hooks.Empty() || a.status < 200 || a.status >= 300 {
		return nil
	}
	if a.first != nil {
		return s.guardStream(ctx, a)
	}
	after := s.outputHooks(a)
	if len(after) > 0 && a.response.live {
		if err := s.buffer(ctx, a); err != nil {
			return err
		}
	}
	if err := s.judgeComplete(ctx, a, after); err != nil {
		return err
	}
	if a.failed {
		a.status = statusHooksFailed
	}
	return nil
}

// judgeComplete runs the output hooks on a response in memory, which may be a stream.
func (s *guardrailStep) judgeComplete(ctx context.Context, a *attempt, hooks []*guardrails.Hook) error {
	switch {
	case a.response.live:
		return nil
	case eventStream(a.response.header):
		return s.judgeReplay(ctx, a, hooks)
	case len(hooks) > 0:
		return s.judgeBody(ctx, a, hooks)
	}
	return nil
}

// outputHooks returns the output hooks that run on the response of the attempt.
func (s *guardrailStep) outputHooks(a *attempt) []*guardrails.Hook {
	if !answersText(a.x) {
		return nil
	}
	return a.hooks.After
}

// answersText is AnswersText of a call.
func answersText(x *exchange) bool { return AnswersText(x.match.Endpoint, x.path) }

// AnswersText reports whether the responses of an endpoint contain text of a model. The path decides
// about calls that are passed through.
func AnswersText(ep llm.Endpoint, path string) bool {
	switch ep {
	case llm.ChatComplete, llm.Complete, llm.Messages, llm.CreateModelResponse, llm.GetModelResponse, llm.CreateTranscription, llm.CreateTranslation, llm.OCR, llm.Realtime:
		return true
	case llm.Proxy:
		return !strings.Contains(path, "embed") && !strings.Contains(path, "/images/") && !strings.Contains(path, "/moderations") && !strings.Contains(path, "/rerank")
	}
	return false
}

// buffer reads a response into memory that would be relayed as it arrives.
func (s *guardrailStep) buffer(ctx context.Context, a *attempt) error {
	b, err := s.responses.readResponse(ctx, a, s.maxBytes)
	if err != nil {
		return err
	}
	a.response.body, a.response.live = b, false
	return nil
}

// judgeBody runs the output hooks on a complete response.
func (s *guardrailStep) judgeBody(ctx context.Context, a *attempt, hooks []*guardrails.Hook) error {
	c := s.call(a)
	if leadsElsewhere(c.Shape) {
		a.results.After = guardrails.SkippedBy(hooks)
		return nil
	}
	c.Shape, c.Memo = answerShape(a.x, c.Shape), a.x.memo
	out, err := s.engine.Run(s.serving(ctx, a, hooks), hooks, c, guardrail.Output, a.status, a.response.body)
	if err != nil {
		return clientGone(ctx, err)
	}
	a.results.After, a.judgedOutput = out.Results, true
	a.failed, a.failedAfter = a.failed || out.Failed, out.Failed
	id := ""
	if out.Denied {
		id = responseID(a.response.body)
	}
	if out.Body != nil {
		a.replaceResponse(out.Body, s.bodyLogBytes)
	}
	s.async.start(a, out.Later, c, guardrail.Output, a.status, a.response.body)
	if out.Denied {
		s.stored.note(a, id)
		return a.deny(out)
	}
	a.conversation.Commit(out.Body)
	return nil
}

// replaceResponse makes a body that hooks changed the response. The log does not keep the body that
// the provider sent.
func (a *attempt) replaceResponse(body []byte, bodyLogBytes int) {
	a.response.body, a.redacted = body, true
	r := a.log()
	r.Named = false
	r.Response = record.NewBody(a.response.header.Get("content-type"), body, int64(len(body)), bodyLogBytes)
}

// checkReadableResponse denies a call whose response an enforced guardrail could not read: one that is
// passed through in an unknown format.
func (s *guardrailStep) checkReadableResponse(a *attempt, c *guardrails.Call) error {
	if a.x.match.Endpoint != llm.Proxy || !answersText(a.x) {
		return nil
	}
	if c.Shape != unknownShape && !leadsElsewhere(c.Shape) && !(a.wantsStream() && (c.Shape == passage.Google || c.Shape == passage.Bedrock)) {
		return nil
	}
	if h := unreadable(a.hooks.After, c); h != nil {
		return a.deny(&guardrails.Outcome{Message: guardrails.Unreadable(h)})
	}
	return nil
}

// addResults adds the results of the hooks to a JSON response.
// Source: contract/dataplane.md 5.4.
func (s *guardrailStep) addResults(_ context.Context, a *attempt) error {
	if a.hooks.Empty() || a.first != nil || a.upstream != 200 && a.hit == nil || a.response.live || !a.results.Any() || len(a.response.body) == 0 || a.response.body[0] != '{' {
		return nil
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(a.response.body, d) == nil {
		a.log().Named = false
		a.response.body = d.Apply([]jsonedit.Edit{jsonedit.Set("hook_results", a.results.JSON(false))})
	}
	return nil
}

// withResults adds the results of the hooks to the body of a denial.
func (x *exchange) withResults(body []byte, f *fault.Error) []byte {
	if f.Code != fault.GuardrailDenied || x.last == nil || len(body) == 0 {
		return body
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(body, d) != nil {
		return body
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("hook_results", x.last.results.JSON(true))})
}

// recordHooks adds the results of the hooks to the record of the attempt. Without recorded bodies it
// keeps verdicts, counts and times only.
func (a *attempt) recordHooks(r *record.Attempt) {
	results := a.results
	if a.asyncResults != nil {
		results = a.asyncResults.join(a)
	}
	if len(results.Before)+len(results.After) > 0 {
		r.Hooks = recordedResults(&results, a.x.capturesBodies())
	}
}

// recordedResults returns results as JSON for the log; "" if they cannot be recorded.
func recordedResults(results *guardrails.Results, withText bool) string {
	text, err := json.Marshal(results.ForLog(withText))
	if err != nil || len(text) > maxHooksBytes {
		text, err = json.Marshal(results.ForLog(false))
	}
	if err != nil {
		return ""
	}
	return string(text)
}

// maxHooksBytes is the maximum size of recorded results with their data; larger ones are recorded
// without it.
const maxHooksBytes = 256 << 10

// checkInline rejects an inline config that names a guardrail that does not exist, or a check that
// does not exist, has invalid parameters or runs on the other side of a call. Saving such a config is
// rejected, too.
func (s *guardrailStep) checkInline(x *exchange) error {
	if s.engine == nil {
		return nil
	}
	for _, t := range x.config.Leaves() {
		if err := s.checkHooks(x, t.Before, guardrail.Input); err != nil {
			return err
		}
		if err := s.checkHooks(x, t.After, guardrail.Output); err != nil {
			return err
		}
	}
	return nil
}

func (s *guardrailStep) checkHooks(x *exchange, hooks []routing.Hook, p guardrail.Phase) error {
	for i := range hooks {
		h := &hooks[i]
		if h.Saved() {
			if x.dir.FindGuardrail(x.key.Principal.WorkspaceID, h.ID) == nil {
				return fault.Newf(fault.InvalidConfig, "unknown guardrail %q; name one of the workspace or the organisation", clip(h.ID)).WithParam(h.IDPath)
			}
			continue
		}
		for k := range h.Checks {
			if err := s.checkUse(&h.Checks[k], p); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUse rejects an invalid check of an inline config.
func (s *guardrailStep) checkUse(c *routing.Check, p guardrail.Phase) error {
	use := guardrail.Check{ID: c.ID, Parameters: c.Parameters}
	if err := s.checks.ValidateUse(&use, p, guardrail.Place{ID: c.IDPath, Params: c.ParamPath}); err != nil {
		f := fault.From(err)
		return fault.New(fault.InvalidConfig, f.Text()).WithParam(f.Param)
	}
	return s.checks.CheckURLs(&use, c.ParamPath, s.guard.CheckURL)
}
