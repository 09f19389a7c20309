package gateway

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/masking"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/sealed"
)

// recorder writes the record of each attempt.
type recorder struct {
	headerMask     *masking.Headers
	journal        journal
	metrics        *Metrics
	backgroundJobs *backgroundTracker
	accountant     *accountant
	cache          *responseCache
	promptCache    *promptCacher
	guardrails     *guardrailStep
	stopped        *atomic.Bool
	bodyLogBytes   int
	meter          *metering.Meter
	clock          ident.Clock
	log            *slog.Logger
	recordDrops    droppedRecords
	feedback       feedbackSink
}

// record writes the attempt to the journal, once. It runs before the client receives the end of
// the response, so killing the process loses no completed call. A journal that rejects the record
// is counted and logged; the request continues.
func (re *recorder) record(a *attempt, o record.Outcome) {
	if a.recorded {
		return
	}
	a.recorded = true
	r := a.log()
	r.Outcome, r.Usage = o, r.Usage.Bounded()
	goesOn := re.backgroundJobs.handToBackground(a)
	re.accountant.openJob(a, o)
	re.accountant.observeJob(a, o)
	re.accountant.closeReservation(a, r)
	re.cache.finish(a, r)
	re.promptCache.finish(a, r)
	if a.fault == nil && r.Error == "" && a.status >= 400 {
		r.Error = providerErrorText(a, r)
	}
	a.recordHooks(r)
	re.rateHooks(a)
	a.recordCache(r)
	a.recordPromptCache(r)
	re.describe(a, r)
	if a.fault != nil {
		r.Error = a.fault.Error()
		re.captureError(a)
	}
	if o == record.ClientGone && re.stopped.Load() { // the gateway ended the call, not the client
		r.Outcome, r.Error = record.Interrupted, "the gateway stopped before the call ended"
	}
	if r.Outcome != record.OK {
		a.sentKeys().MaskRecord(r)
	}
	r.MaskCredentials(re.bodyLogBytes)
	if err := re.journal.Append(r); err != nil {
		re.droppedRecords(r, err)
	}
	a.x.replay.saveRecord(r)
	a.x.inner.add(r)
	re.meter.Settle(a.money)
	re.metrics.attempt(r, a.number > 0 && !a.auxiliary)
	if goesOn != nil {
		re.backgroundJobs.startPolling(goesOn)
	}
}

// recordRefusal records a request that was refused before it reached a target. A caller without a
// valid key is not recorded: such records could fill the disk.
func (re *recorder) recordRefusal(x *exchange) {
	if x.key == nil || x.attempts > 0 || x.refusal == nil {
		return
	}
	re.record(&attempt{x: x, target: fromHeaders.Root.Target, started: x.started, incoming: incoming{status: x.refusal.HTTPStatus()}, fault: x.refusal}, record.Refused)
}

func (re *recorder) describe(a *attempt, r *record.Attempt) {
	x := a.x
	r.ID, r.RequestID, r.TraceID = a.recordID(), x.id, x.trace.ID
	r.SpanID, r.ParentSpan, r.SpanName = x.trace.Span, x.trace.Parent, x.trace.Name
	r.Number, r.Retries = int32(a.number), int32(max(0, a.retries-a.tries))
	r.Upstream, r.FirstByte, r.Dropped, r.Continued = a.upstream, a.firstByte, a.dropped, a.continued
	r.Started, r.Duration = a.started, re.clock.Now().Sub(a.started)
	setTimings(a, &r.Timings, r.Duration)
	p := &x.key.Principal
	r.OrgID, r.WorkspaceID, r.KeyID, r.KeyName, r.UserID = p.OrgID, p.WorkspaceID, p.ID, p.Name, p.UserID
	r.ConfigID, r.TargetPath = x.configID, a.target.Path
	r.Model, r.Endpoint, r.Method, r.Path = a.model, x.match.Endpoint, x.req.Method, x.shown
	r.Status, r.Stream, r.CacheStatus = int32(cmp.Or(a.failing, a.status)), a.stream, cmp.Or(a.cacheStatus, cacheDisabled)
	r.Metadata, r.Remote = x.metadata, x.req.Remote
	r.Runtime, r.RuntimeVersion, r.SDKVersion = clientText(x.ctl.Runtime), clientText(x.ctl.RuntimeVersion), clientText(x.ctl.PackageVersion)
	x.prompt.describe(r)
	x.replay.mark(r)
	if a.spec != nil {
		r.Provider = a.spec.ID
	}
	if a.account != nil {
		r.ProviderID = a.account.Slug
	}
	if a.plan != nil && !a.estimated && a.hit == nil {
		r.UpstreamURL = a.plan.Scheme + "://" + a.plan.Host + sealed.Target(sealed.Path(a.plan.Target))
	}
	re.describeBody(a, r)
}

// maxClientText is the maximum length, in bytes, of a client library's recorded descriptions.
const maxClientText = 64

// clientText returns the recorded form of such a text: "" when it is too long or not printable
// ASCII.
// Source: contract/dataplane.md, headers of client libraries.
func clientText(s string) string {
	if len(s) > maxClientText || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return ""
	}
	return s
}

// recordID returns the id of the attempt's record. The first attempt uses the request id, so that
// the record is found by the id that the caller received.
func (a *attempt) recordID() string {
	if a.id == "" {
		if a.id = a.x.id; a.number > 0 {
			a.id = ident.NewIDAt(a.started)
		}
	}
	return a.id
}

// describeBody records the body that was sent. For a form it records the fields without the file,
// and nothing for a body that was not buffered. It records no bodies when x-gateway-debug is
// false, or when the workspace records metrics only and the header is not true.
// Source: contract/identity-and-governance.md section 3.
func (re *recorder) describeBody(a *attempt, r *record.Attempt) {
	x := a.x
	r.BytesIn = a.body.Len()
	if !x.capturesBodies() {
		r.Request, r.Response, r.ClientRequest, r.ClientResponse = record.Body{}, record.Body{Size: r.Response.Size}, record.Body{}, record.Body{}
		return
	}
	defer re.describeHeads(a, r)
	if re.guardrails.unredacted(a) {
		r.Request, r.Reshaped = record.Body{Size: a.body.Len()}, record.Body{}
		return
	}
	re.captureClientRequest(a, r)
	switch {
	case x.form != nil:
		r.Request = record.Body{Type: "application/json", Bytes: formFields(x.form, a.formTexts), Size: a.body.Len()}
	case x.match.Body != llm.NoBody:
		if b, ok := a.body.Memory(); ok {
			r.Request = re.truncateBody(cmp.Or(x.ctl.ContentType, "application/json"), b, int64(len(b)))
		} else if x.spool != nil {
			if b, err := x.spool.Bytes(); err == nil {
				r.Request = re.truncateBody(cmp.Or(x.ctl.ContentType, "application/json"), b, int64(len(b)))
			}
		}
	}
}

// truncateBody truncates a body to the size that the deployment records.
func (re *recorder) truncateBody(typ string, b []byte, size int64) record.Body {
	return record.NewBody(typ, b, size, re.bodyLogBytes)
}

// formFields returns the recorded form of a form body: its fields, and the name, type and size of
// its files. Field values are truncated to 1 KiB and contain no credentials.
// changed has the values of the fields that hooks changed.
func formFields(f *multipartedit.Form, changed map[string][]string) []byte {
	const valueMax = 1 << 10
	type part struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
		File  string `json:"file,omitempty"`
		Type  string `json:"type,omitempty"`
		Bytes int64  `json:"bytes,omitempty"`
	}
	parts := make([]part, 0, len(f.Parts))
	for i := range f.Parts {
		p := &f.Parts[i]
		if p.HasFileName {
			parts = append(parts, part{Name: p.Name, File: p.FileName, Type: p.ContentType, Bytes: p.Len})
			continue
		}
		if values, isChanged := changed[p.Name]; isChanged {
			text := strings.Join(values, "\n")
			parts = append(parts, part{Name: p.Name, Value: text[:min(len(text), valueMax)]})
			continue
		}
		parts = append(parts, part{Name: p.Name, Value: string(sealed.FormValue(p.Name, p.Value[:min(len(p.Value), valueMax)]))})
	}
	b, err := json.Marshal(map[string]any{"form": parts})
	if err != nil { // strings and numbers only: cannot happen
		return nil
	}
	return b
}
