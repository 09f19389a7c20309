package providerjobs

import (
	"context"
	"io"
	"slices"

	"sluice/internal/dialect/uploads"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/ledger"
)

// maxJobBytes limits the description of a job. A description from Google may include the results.
const maxJobBytes = 64 << 20

// maxOutputFactor is the maximum size of a results file, as a multiple of the maximum upload
// size.
const maxOutputFactor = 8

var _ providerjob.Checker = (*Jobs)(nil)

// CheckJob implements providerjob.Checker: it reads a job at its provider. A job that has ended is
// billed by the usage that the provider reports; the result is nil while the job is running.
func (t *Jobs) CheckJob(ctx context.Context, j *providerjob.Job) (*providerjob.Result, error) {
	by, err := t.accessFor(j)
	if err != nil {
		return nil, err
	}
	doc, err := t.readJob(ctx, j, by)
	if err != nil {
		return nil, err
	}
	st := providerjob.ReadState(doc)
	if !st.Ended {
		return nil, nil //nolint:nilnil // the job goes on
	}
	b := t.newBill(j)
	b.status, b.failed = st.Status, st.Failed
	b.doc = doc
	switch j.Kind {
	case providerjob.Batch:
		err = t.billOutput(ctx, b, by, &st)
	case providerjob.Finetune:
		b.training(&st)
	default:
		b.video(&st)
	}
	if err != nil {
		return nil, err
	}
	if b.cost == 0 && b.tokens() == 0 && b.lacks == "" {
		b.state = ledger.Released
	}
	return t.resultOf(b), nil
}

// AbandonJob implements providerjob.Checker: it bills the maximum cost of the job and records the
// reason.
func (t *Jobs) AbandonJob(j *providerjob.Job, reason string) *providerjob.Result {
	b := t.newBill(j)
	b.billMaximum()
	b.reason = reason
	return t.resultOf(b)
}

// ForgetJob implements providerjob.Checker: it drops the stored access of the job.
func (t *Jobs) ForgetJob(j *providerjob.Job) { t.accesses.Delete(j.Key()) }

// readJob reads the description of a job from its provider.
func (t *Jobs) readJob(ctx context.Context, j *providerjob.Job, by *Access) ([]byte, error) {
	c, err := t.Upstream.Get(ctx, keyOf(j), by, j.Path)
	if err != nil {
		return nil, refusedJob(err)
	}
	defer c.Close()
	doc, err := io.ReadAll(&limitedReader{r: c.Body, left: maxJobBytes})
	switch {
	case err != nil:
		return nil, err
	case c.Status >= 300:
		return nil, jobStatus(c.Status)
	case !jsonedit.Valid(doc):
		return nil, providerjob.ErrRefused
	}
	return doc, nil
}

// jobStatus returns the error for a provider's status: providerjob.ErrRefused unless a retry may help
// (408, 429 and 5xx).
func jobStatus(status int) error {
	if status == 408 || status == 429 || status >= 500 {
		return fault.Newf(fault.UpstreamFailed, "the provider responded with status %d", status)
	}
	return providerjob.ErrRefused
}

// refusedJob returns providerjob.ErrRefused for an error that a retry cannot fix, and err otherwise.
func refusedJob(err error) error {
	if slices.Contains(lastingFaults[:], fault.From(err).Code) {
		return providerjob.ErrRefused
	}
	return err
}

var lastingFaults = [...]fault.Code{fault.InvalidRequest, fault.InvalidParameter, fault.NotSupported, fault.ModelNotAllowed, fault.KeyExpired, fault.Conflict, fault.NotFound}

// billOutput adds up the usage that the results of a batch report. A batch that was cancelled,
// expired or failed has the results of the requests completed until then.
func (t *Jobs) billOutput(ctx context.Context, b *bill, by *Access, st *providerjob.State) error {
	if len(st.Results) > 0 {
		for one := range jsonedit.Elements(st.Results) {
			b.line(one)
		}
		return nil
	}
	if st.Output == "" && (st.Failed || st.None) {
		return nil
	}
	path := b.job.Path + "/output"
	if st.Output != "" {
		path = "/files/" + inPath(st.Output) + "/content"
	}
	c, err := t.Upstream.Get(ctx, keyOf(b.job), by, path)
	if err != nil {
		return refusedJob(err)
	}
	defer c.Close()
	if c.Status >= 300 {
		return jobStatus(c.Status)
	}
	return uploads.EachLine(&limitedReader{r: c.Body, left: maxOutputFactor * t.MaxUploadBytes}, func(_ int, line []byte) error {
		b.line(line)
		return ctx.Err()
	})
}

// resultOf builds the result of a job, with the function that writes its record.
func (t *Jobs) resultOf(b *bill) *providerjob.Result {
	j := b.job
	now := t.Clock.Now()
	r := &record.Attempt{
		ID: j.ID, RequestID: j.RequestID, TraceID: j.TraceID, Number: 1, Started: j.Created, Duration: now.Sub(j.Created),
		OrgID: j.OrgID, WorkspaceID: j.WorkspaceID, KeyID: j.KeyID, KeyName: j.KeyName, UserID: j.UserID, ConfigID: j.ConfigID, TargetPath: j.TargetPath,
		Provider: j.Provider, ProviderID: j.ProviderID, Model: j.Model, ResponseModel: b.model, Endpoint: j.Endpoint, Method: j.Method, Path: j.Shown,
		Status: 200, Upstream: 200, Outcome: record.OK, CacheStatus: "DISABLED", Metadata: j.Metadata, Usage: b.usage,
		Spend: b.spend(),
	}
	if b.state == ledger.Unknown {
		r.Usage = llm.Usage{}
	}
	if b.failed || b.reason != "" {
		r.Status, r.Outcome, r.Error = 502, record.Failed, b.reason
		if r.Error == "" {
			r.Error = "the job ended with the status " + fault.Clip(b.status)
		}
	}
	scope := t.Snapshot().FindWorkspace(j.WorkspaceID)
	if len(b.doc) > 0 && (scope == nil || !scope.MetricsOnly) {
		r.Response = record.NewBody("application/json", b.doc, int64(len(b.doc)), t.MaxBodyBytes)
	}
	n := b.tokens()
	return &providerjob.Result{Cost: b.cost, Tokens: n, Record: func() {
		t.Recorder.RecordJob(r)
		t.countTokens(j, n)
	}}
}
