package gateway

import (
	"context"
	"strings"
	"time"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/metering"
)

// checkPayer is whom the checks of an attempt are charged to, and what their records share with that of
// the attempt. It does not refer to memory of the request, because asynchronous checks outlive it.
type checkPayer struct {
	payer  *metering.Payer
	record record.Attempt
}

func newCheckPayer(a *attempt) *checkPayer {
	s, p := subjectOf(a), &a.x.key.Principal
	return &checkPayer{
		payer:  metering.NewPayer(&s, a.x.dir.Limits(keys.Kind, p.ID), a.x.dir.Limits(tenant.WorkspaceKind, p.WorkspaceID)),
		record: checkRecord(a),
	}
}

// checkSpan is the span name of the records of paid checks.
const checkSpan = "guardrail check"

// checkRecord returns the record of a paid check of an attempt, without its id, times and cost.
func checkRecord(a *attempt) record.Attempt {
	x, p := a.x, &a.x.key.Principal
	r := record.Attempt{
		RequestID: strings.Clone(x.id), TraceID: strings.Clone(x.trace.ID), ParentSpan: strings.Clone(x.trace.Span), SpanName: checkSpan,
		OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID, KeyName: p.Name, UserID: p.UserID,
		ConfigID: strings.Clone(x.configID), TargetPath: strings.Clone(a.target.Path), Provider: a.spec.ID, Model: strings.Clone(a.model),
		Endpoint: x.match.Endpoint, Method: strings.Clone(x.req.Method), Path: strings.Clone(x.shown), Remote: strings.Clone(x.req.Remote),
		Metadata: ownMetadata(x.metadata), Status: 200, Outcome: record.OK, CacheStatus: cacheDisabled,
	}
	if a.account != nil {
		r.ProviderID = a.account.Slug
	}
	x.prompt.describe(&r)
	x.replay.mark(&r)
	return r
}

// checkLedger books what checks of external services cost: a ledger entry and a record of each run that
// costs something. It implements check.Ledger.
type checkLedger struct {
	meter    *metering.Meter
	recorder *recorder
}

// CheckLedger returns what books the costs of checks for the callers of their calls.
func (g *Gateway) CheckLedger() check.Ledger { return checkLedger{g.meter, &g.recorder} }

// Reserve implements check.Ledger.
func (l checkLedger) Reserve(ctx context.Context, p *check.Price) (settle func(calls int), err error) {
	if !gated {
		return func(int) {}, nil
	}
	by, ok := ctx.Value(servedKey{}).(*served)
	if !ok {
		return nil, errNoCaller
	}
	fee, err := l.meter.OpenFee(ctx, by.payer.payer, metering.Price{Name: p.Check, Nano: p.Nano, Units: int64(p.Calls)})
	if err != nil {
		return nil, err
	}
	started := l.meter.Clock.Now()
	return func(calls int) { l.settle(by.payer, fee, calls, started) }, nil
}

// settle closes the entry of a run with its record.
func (l checkLedger) settle(by *checkPayer, fee *metering.Fee, calls int, started time.Time) {
	if calls == 0 {
		l.meter.DropFee(fee)
		return
	}
	r := by.record
	r.Started, r.Duration = started, l.meter.Clock.Now().Sub(started)
	l.meter.CloseFee(fee, int64(calls), &r)
	if err := l.recorder.journal.Append(&r); err != nil {
		l.recorder.droppedRecords(&r, err)
	}
	l.recorder.metrics.spent(r.Provider, &r.Spend)
	l.meter.SettleFee(fee)
}
