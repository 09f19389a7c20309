package limits

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
	"sluice/internal/limits/quota"
)

// dryRun is a policy that is being tested on recorded traffic.
type dryRun struct {
	rehearsal *quota.DryRun
	workspace quota.Named
	keys      map[string]*dryRunKeyView
	out       dryRunView
	seen      int       // rows that were read
	last      time.Time // start of the last of them
}

// replay reads the traffic of a time range, oldest first, one page at a time.
func (d *dryRun) replay(ctx context.Context, logs Logs, c *resource.Call, from, to time.Time) error {
	q := record.Query{OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, From: from, To: to, Limit: record.MaxLimit}
	if c.Principal.IsLimitedToUserData(c.WorkspaceID) {
		q.UserID = c.Principal.UserID
	}
	for {
		page, err := logs.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Rows {
			d.try(&page.Rows[i])
		}
		if page.Next == "" {
			return nil
		}
		if d.seen >= dryRunRows {
			d.out.Truncated = true
			return nil
		}
		q.After = page.Next
	}
}

// try tests one attempt against the policy, unless it was rejected or not served by this
// gateway.
func (d *dryRun) try(a *record.Attempt) {
	d.seen, d.last = d.seen+1, a.Started
	if a.Outcome == record.Refused || !a.Source.Served() {
		return
	}
	d.out.Attempts++
	nano, priced := a.Cost()
	v := d.rehearsal.Try(d.call(a), quota.PastCall{CalledAt: a.Started, Nano: nano, Tokens: a.Tokens()})
	if !v.Applies {
		return
	}
	d.out.Applied++
	if v.Measure == quota.Cost && !priced {
		d.out.Unpriced++
	}
	key := d.keys[v.ValueKey]
	if key == nil {
		key = &dryRunKeyView{ValueKey: v.ValueKey}
		d.keys[v.ValueKey] = key
	}
	key.Applied++
	if !v.Refused {
		return
	}
	key.Refused++
	if d.out.Refused++; len(d.out.Refusals) < dryRunShown {
		d.out.Refusals = append(d.out.Refusals, viewRefusal(a, v))
	}
}

// call returns what a policy checks. The log has one name of a saved provider or config, which
// is used as slug and id.
func (d *dryRun) call(a *record.Attempt) *quota.Call {
	named := func(name string) quota.Named { return quota.Named{Slug: name, ID: name} }
	return &quota.Call{
		OrgID: a.OrgID, Workspace: d.workspace, KeyID: a.KeyID, Account: named(a.ProviderID), Provider: a.Provider, Config: named(a.ConfigID),
		Prompt: quota.Named{Slug: a.PromptSlug, ID: a.PromptID}, Model: a.Model, Endpoint: a.Endpoint, Metadata: a.Metadata,
	}
}

func viewRefusal(a *record.Attempt, v quota.Verdict) dryRunCallView {
	used, units, limit := v.Measure.Text(v.Used), v.Measure.Text(v.Units), v.Measure.Text(v.Limit)
	reason := fmt.Sprintf("%s of %s %s were used, and the request used %s", used, limit, unitsOf(v.Measure), units)
	if v.Used >= v.Limit {
		reason = fmt.Sprintf("all of %s %s were used", limit, unitsOf(v.Measure))
	}
	return dryRunCallView{
		LogID: a.ID, RequestID: a.RequestID, CreatedAt: resource.Stamp(a.Started), KeyID: a.KeyID, Provider: a.Provider, Model: a.Model,
		ValueKey: v.ValueKey, Used: jsonfield.Number(used), Units: jsonfield.Number(units), Limit: jsonfield.Number(limit), RetryAt: resource.StampOf(&v.ResetAt), Reason: reason,
	}
}

// unitsOf returns the name of the units of a measure.
func unitsOf(m quota.Measure) string {
	if m == quota.Cost {
		return "US dollars"
	}
	return string(m)
}

func (d *dryRun) view(from, to time.Time) dryRunView {
	v := d.out
	v.Object, v.From, v.To = "policy_dry_run", resource.Stamp(from), resource.Stamp(to)
	if v.Truncated {
		v.To = resource.Stamp(d.last)
	}
	v.ValueKeys = make([]dryRunKeyView, 0, min(len(d.keys), dryRunShown))
	all := slices.SortedFunc(maps.Values(d.keys), func(a, b *dryRunKeyView) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.Applied, a.Applied), cmp.Compare(a.ValueKey, b.ValueKey))
	})
	for _, key := range all[:min(len(all), dryRunShown)] {
		v.ValueKeys = append(v.ValueKeys, *key)
	}
	if v.Refusals == nil {
		v.Refusals = []dryRunCallView{}
	}
	return v
}
