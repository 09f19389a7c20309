package partner

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
)

// maxParallelCalls is the maximum number of calls of one run at a time.
const maxParallelCalls = 8

// runner is a compiled use of a partner check. It is immutable, apart from the shared state, and
// safe for concurrent use.
type runner struct {
	spec     *compiledSpec
	params   check.Params // with defaults
	secrets  [][]byte     // what results must not contain
	missing  string       // the path of a required credential without a value; empty for none
	timeout  time.Duration
	costNano int64 // of one call
	redacts  bool
	state    *state
	services check.Services
	ledger   check.Ledger // nil books nothing
	now      func() time.Time
}

// newRunner compiles the parameters of one use. Missing credentials are an error of each run, because
// guardrails of other gateways, which store credentials elsewhere, can be saved without them.
func newRunner(c *compiledSpec, st *state, p check.Params, d *check.Deps) check.Runner {
	r := &runner{spec: c, params: c.withDefaults(p), state: st, timeout: c.timeout, now: time.Now}
	creds := r.params.Object("credentials")
	r.missing = missing(creds, c.Credentials, "parameters.credentials")
	r.secrets = secrets(creds, c.Credentials)
	if ms := p.Number("timeout", 0); ms > 0 {
		r.timeout = min(time.Duration(ms)*time.Millisecond, maxTimeout)
	}
	r.costNano = int64(p.Number("cost_per_call", 0)*1e9 + 0.5)
	if d != nil {
		r.services, r.ledger = d.Services, d.Ledger
		if d.Now != nil {
			r.now = d.Now
		}
	}
	if c.Redact != nil {
		r.redacts = c.Redact.condition == nil || r.values(nil, nil).isTrue(c.Redact.condition)
	}
	if c.Inject != nil || r.redacts && c.Redact.Body != "" {
		return &rewriter{r}
	}
	return r
}

// Redacts implements check.Redactor.
func (r *runner) Redacts() bool { return r.redacts }

// rewriter is a runner that replaces the body as a whole.
type rewriter struct{ *runner }

// Rewrites implements check.Rewriter.
func (r *rewriter) Rewrites() bool { return true }

// Redacts implements check.Redactor: a rewriter has no edits.
func (r *rewriter) Redacts() bool { return false }

var (
	_ check.Redactor = (*runner)(nil)
	_ check.Rewriter = (*rewriter)(nil)
	_ check.Priced   = (*runner)(nil)
)

func (r *runner) values(in *check.Input, c *chunk) *values {
	return &values{in: in, params: r.params, consts: r.spec.Constants, chunk: c}
}

// Run sends the texts to the partner and merges what it responds: a failure of one call is the verdict
// of the check, whatever the other calls return.
func (r *runner) Run(ctx context.Context, in *check.Input) check.Result {
	how, list, done := r.calls(in)
	if done != nil {
		return *done
	}
	settle, err := r.reserve(ctx, len(list))
	if err != nil {
		res := r.failed(&check.Error{Name: unpaid, Message: "the check was not run: " + publicText(err)}, r.spec.OnError)
		res.Unpaid = err
		return res
	}
	judged := r.judgeAll(ctx, how, in, list)
	settle(billed(judged))
	return r.merge(judged)
}

// calls returns the calls that judge an input, or the result of a run that needs none.
func (r *runner) calls(in *check.Input) (how *compiledRequest, list []chunk, done *check.Result) {
	result := func(res check.Result) (*compiledRequest, []chunk, *check.Result) { return nil, nil, &res }
	if r.missing != "" {
		return result(r.failed(checkError("%s is required", r.missing), cmp.Or(r.spec.OnMissing, r.spec.OnError)))
	}
	if r.services == nil {
		return result(r.failed(checkError("external services are not available here"), r.spec.OnError))
	}
	if r.spec.Inject != nil && !r.spec.Inject.supports(in.Endpoint) {
		return result(check.Result{Verdict: true, Data: map[string]any{"explanation": "the endpoint has no prompt"}})
	}
	how, mode := r.requestFor(in)
	if mode == sendBody && len(in.Body) == 0 {
		return result(r.failed(checkError("the body of the call is not JSON"), r.spec.OnError))
	}
	list, err := chunks(r.scoped(in), mode, &r.spec.Limits)
	if err != nil {
		return result(r.failed(checkError("%s", err), r.spec.OnError))
	}
	if len(list) == 0 {
		return result(check.Result{Verdict: true, Data: map[string]any{"explanation": "no text to judge"}})
	}
	if r.spec.Inject != nil {
		list = list[:1] // a search has one query
	}
	return how, list, nil
}

// scoped returns the input with the messages that a parameter selects.
func (r *runner) scoped(in *check.Input) *check.Input {
	scope := r.params.Text(r.spec.Scope, "")
	if scope == "" || in.Phase != guardrail.Input {
		return in
	}
	scoped := *in
	scoped.Texts = readConversation(in).scope(scope)
	return &scoped
}

// requestFor returns how the texts of a call go to the partner.
func (r *runner) requestFor(in *check.Input) (*compiledRequest, sendMode) {
	how := &r.spec.request
	if r.spec.chat != nil && in.Phase == guardrail.Input && in.Endpoint == llm.ChatComplete {
		how = r.spec.chat
	}
	if r.redacts && r.spec.SendRedacting != "" {
		return how, r.spec.SendRedacting
	}
	return how, how.send
}

// failed returns the result of a run that could not judge.
func (r *runner) failed(e *check.Error, rule string) check.Result {
	return check.Result{Error: e, ErrorDecides: rule != "", Verdict: rule == "open"}
}

// judgeAll judges the chunks, several at a time. After a failure without redaction, and after an
// error, it starts no further call.
func (r *runner) judgeAll(ctx context.Context, how *compiledRequest, in *check.Input, list []chunk) []judgement {
	out := make([]judgement, len(list))
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		next int
		done bool
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if done || next == len(list) {
			return 0, false
		}
		next++
		return next - 1, true
	}
	work := func() {
		for i, ok := take(); ok; i, ok = take() {
			out[i] = r.judge(ctx, how, in, &list[i])
			if out[i].err != nil || out[i].fails && !r.redacts {
				mu.Lock()
				done = true
				mu.Unlock()
			}
		}
	}
	for range min(len(list), maxParallelCalls) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return out
}

// merge returns the result of a run from those of its calls.
func (r *runner) merge(list []judgement) check.Result {
	res := check.Result{Verdict: true}
	deciding, calls := &list[0], 0
	for i := range list {
		j := &list[i]
		if j.sent {
			calls++
		}
		if j.billed {
			res.CostNano += r.costNano
		}
		res.Edits = append(res.Edits, j.edits...)
		if j.body != nil {
			res.Body = j.body
		}
		if j.worse(deciding) {
			deciding = j
		}
	}
	res.Edits = withoutOverlaps(res.Edits)
	res.Data = deciding.data
	res.Log = map[string]any{"url": deciding.url, "calls": calls, "status": deciding.status}
	switch {
	case deciding.fails:
		res.Verdict = false
		res.Body = nil
	case deciding.err != nil:
		failed := r.failed(deciding.err, r.spec.OnError)
		failed.Edits, failed.Log, failed.CostNano = res.Edits, res.Log, res.CostNano
		return failed
	}
	return res
}

// judgement is the result of one call.
type judgement struct {
	fails  bool
	err    *check.Error
	data   any
	edits  []check.Edit
	body   []byte
	url    string
	status int
	sent   bool // the call was made
	billed bool // the service judged
}

// worse reports whether a judgement decides over another: a failure over an error, an error over a
// pass.
func (j *judgement) worse(other *judgement) bool { return j.rank() > other.rank() }

func (j *judgement) rank() int {
	switch {
	case j.fails:
		return 2
	case j.err != nil:
		return 1
	}
	return 0
}

func checkError(format string, values ...any) *check.Error {
	return &check.Error{Name: "Check error", Message: fmt.Sprintf(format, values...)}
}
