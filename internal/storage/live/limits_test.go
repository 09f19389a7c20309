package live_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/live"
	"sluice/internal/storage/sqlstore/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// counted is a plane whose copy tells a bank.
func counted(t *testing.T, c live.LimitOptions) (*plane, *quota.Limiter) {
	t.Helper()
	p := newPlane(t)
	b := quota.NewLimiter()
	c.Limiter, c.Meters = b, p.store
	p.dir.Count(c)
	return p, b
}

func (p *plane) load() {
	p.t.Helper()
	if err := p.dir.Load(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plane) refresh() *live.Snapshot {
	p.t.Helper()
	if err := p.dir.Refresh(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return p.dir.Current()
}

func (p *plane) inTx(f func(tx resource.Tx) error) {
	p.t.Helper()
	if err := p.store.InTx(p.t.Context(), f); err != nil {
		p.t.Fatal(err)
	}
}

func dollars(id string, n int) json.RawMessage {
	b := quota.Budget{ID: id, Measure: quota.Cost, CreditLimit: quota.Amount(n) * quota.One}
	raw, _ := json.Marshal(b)
	return raw
}

func list(one json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(one) + "]") }

const perMinute = `[{"type":"requests","unit":"rpm","value":60}]`

func TestLimits(t *testing.T) {
	t.Parallel()
	p, _ := counted(t, live.LimitOptions{})
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws-search", Name: "Search", Status: "active"}, tenant.Workspace{UsageLimits: list(dollars("b-place", 7))})
	hash := keys.NewHasher([]byte("pepper")).Sum("sk-1")
	key := keys.Key{Type: access.WorkspaceService, Secret: keys.Secret{Hash: hash}, UsageLimits: dollars("b-key", 5), RateLimits: json.RawMessage(perMinute)}
	keyID := p.put(keys.Kind, "", key)
	virtual := p.put(credential.VirtualKeyKind, "vk", credential.VirtualKey{Provider: "openai", RateLimits: json.RawMessage(perMinute)})
	integration := credential.Integration{AIProviderID: "openai", Limits: map[string]credential.WorkspaceLimits{workspaceID: {UsageLimits: list(dollars("b-in", 9)), RateLimits: json.RawMessage(perMinute)}}}
	inID := p.put(credential.IntegrationKind, "in", integration)
	made := p.put(credential.ProviderKind, "main", credential.Provider{IntegrationID: inID})
	p.load()

	s := p.dir.Current()
	check := func(s *live.Snapshot, name string, plan *quota.Plan, budget int64, rates int) {
		t.Helper()
		got := int64(0)
		if len(plan.Budgets) == 1 {
			got = plan.Budgets[0].Limit / 1_000_000_000
		}
		if got != budget || len(plan.Rates) != rates {
			t.Errorf("%s: %d dollars and %d rates, want %d and %d", name, got, len(plan.Rates), budget, rates)
		}
	}
	check(s, "key", s.Limits(keys.Kind, keyID), 5, 1)
	check(s, "workspace", s.Limits(tenant.WorkspaceKind, workspaceID), 7, 0)
	check(s, "virtual key", s.Limits(credential.VirtualKeyKind, virtual), 0, 1)
	check(s, "provider", s.Limits(credential.ProviderKind, made), 0, 0)
	check(s, "integration", s.IntegrationLimits(inID, workspaceID), 9, 1)
	check(s, "integration elsewhere", s.IntegrationLimits(inID, org), 0, 0)
	if subject := s.Limits(tenant.WorkspaceKind, workspaceID).Budgets[0].Owner; *subject != (quota.Owner{Kind: tenant.WorkspaceKind, ID: workspaceID, Name: "ws-search"}) {
		t.Errorf("the budget belongs to %+v", subject)
	}

	key.UsageLimits, key.RateLimits = dollars("b-key", 50), nil
	p.write(resource.Record{Kind: keys.Kind, ID: keyID, OrgID: org, WorkspaceID: workspaceID, Name: "k", Status: "active"}, key)
	integration.Limits = nil
	p.write(resource.Record{Kind: credential.IntegrationKind, ID: inID, OrgID: org, WorkspaceID: workspaceID, Slug: "in", Name: "in", Status: "active"}, integration)
	p.write(resource.Record{Kind: credential.VirtualKeyKind, ID: virtual, OrgID: org, WorkspaceID: workspaceID, Slug: "vk", Name: "vk", Status: "archived"}, credential.VirtualKey{})
	n := p.refresh()
	check(n, "raised key", n.Limits(keys.Kind, keyID), 50, 0)
	check(n, "the workspace as it was", n.Limits(tenant.WorkspaceKind, workspaceID), 7, 0)
	check(n, "integration without limits", n.IntegrationLimits(inID, workspaceID), 0, 0)
	check(n, "archived virtual key", n.Limits(credential.VirtualKeyKind, virtual), 0, 0)
	check(s, "the key in the old snapshot", s.Limits(keys.Kind, keyID), 5, 1)

	key.UsageLimits = json.RawMessage(`{"credit_limit":"much"}`)
	p.write(resource.Record{Kind: keys.Kind, ID: keyID, OrgID: org, WorkspaceID: workspaceID, Name: "k", Status: "active"}, key)
	if n = p.refresh(); n.FindKey(hash) != nil {
		t.Error("a key whose limits cannot be read is served without them")
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	p, _ := counted(t, live.LimitOptions{})
	any := []quota.Condition{{Key: "api_key", Value: quota.Values{"*"}}}
	rate := quota.RateLimit{Conditions: any, Type: quota.Requests, Unit: quota.PerMinute, Value: 5}
	first := p.put(quota.RateLimitKind, "", rate)
	second := p.put(quota.RateLimitKind, "", rate)
	budget := p.put(quota.UsageLimitKind, "", quota.UsageLimit{Conditions: any, Budget: quota.Budget{CreditLimit: quota.One}})
	tools := rate
	tools.Target = quota.Tools
	p.put(quota.RateLimitKind, "", tools)
	p.load()
	call := &quota.Call{KeyID: "k"}
	s := p.dir.Current()
	budgets, rates := s.Policies(workspaceID).Match(call, nil, nil)
	if h := rates; len(h) != 2 || h[0].Counter.Subject != first || h[1].Counter.Subject != second {
		t.Errorf("rates %+v", h)
	}
	if h := budgets; len(h) != 1 || h[0].Counter.Subject != budget || h[0].Limit != 1_000_000_000 {
		t.Errorf("budgets %+v", h)
	}
	if s.Policies(org) != nil {
		t.Error("another workspace has policies")
	}
	p.write(resource.Record{Kind: quota.RateLimitKind, ID: first, OrgID: org, WorkspaceID: workspaceID, Status: "archived"}, rate)
	if _, h := p.refresh().Policies(workspaceID).Match(call, nil, nil); len(h) != 1 || h[0].Counter.Subject != second {
		t.Errorf("with one archived: %+v", h)
	}
}

func TestLimitsSwitchedOff(t *testing.T) {
	t.Parallel()
	p, _ := counted(t, live.LimitOptions{NoBudgets: true, NoPolicies: true})
	key := p.put(keys.Kind, "", keys.Key{UsageLimits: dollars("b", 5), RateLimits: json.RawMessage(perMinute)})
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Status: "active"}, tenant.Workspace{})
	p.put(quota.RateLimitKind, "", quota.RateLimit{Conditions: []quota.Condition{{Key: "api_key", Value: quota.Values{"*"}}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 5})
	p.load()
	s := p.dir.Current()
	if plan := s.Limits(keys.Kind, key); len(plan.Budgets) != 0 || len(plan.Rates) != 1 || s.Policies(workspaceID) != nil {
		t.Errorf("limits %+v, policies %+v", plan, s.Policies(workspaceID))
	}
}

// TestMeters: the bank begins with what the store knows, and learns of resets, of new
// limits and of those that went.
func TestMeters(t *testing.T) {
	t.Parallel()
	p, limiter := counted(t, live.LimitOptions{})
	ctx := t.Context()
	subject := quota.Subject{Kind: keys.Kind, ID: ident.NewID(), OrgID: org, WorkspaceID: workspaceID}
	m := quota.Meter{Subject: subject, BudgetKey: "b", Used: 30, Limit: 100, NextReset: noon.AddDate(0, 0, 3)}
	p.inTx(func(tx resource.Tx) error { return p.store.AddMeter(ctx, tx, m) })
	p.load()
	h := quota.Hold{Counter: quota.CounterID{Subject: subject.ID, Entry: "b"}, Limit: 100}
	used := func(want int64) {
		t.Helper()
		if s := limiter.State(noon, &h); s.Used != want {
			t.Errorf("%d are used, want %d", s.Used, want)
		}
	}
	used(30)
	if s := limiter.State(noon, &h); !s.ResetAt.Equal(m.NextReset) {
		t.Error("begins anew at", s.ResetAt)
	}
	p.inTx(func(tx resource.Tx) error {
		m.Reset(noon)
		return p.store.SaveMeter(ctx, tx, m)
	})
	p.refresh()
	used(0)
	if err := p.store.AddUsage(ctx, []quota.Delta{{SubjectID: subject.ID, BudgetKey: "b", Units: 12}}); err != nil {
		t.Fatal(err)
	}
	p.refresh()
	used(12)
	p.inTx(func(tx resource.Tx) error { return p.store.DropMeters(ctx, tx, subject.ID, "") })
	p.refresh()
	used(0)
}

// BenchmarkLoadMeters: a start with 100,000 counters of one policy.
func BenchmarkLoadMeters(b *testing.B) {
	s := storetest.Open(b, storetest.SQLite(b))
	box, err := sealed.NewBox([]byte("a key of the tests, long"))
	if err != nil {
		b.Fatal(err)
	}
	subject := quota.Subject{Kind: quota.UsageLimitKind, ID: ident.NewID(), OrgID: org, WorkspaceID: workspaceID}
	for begin := 0; begin < manyKeys; begin += batchRows {
		err := s.InTx(b.Context(), func(tx resource.Tx) error {
			for range batchRows {
				key := "metadata._user:" + ident.NewID()
				if err := s.AddMeter(b.Context(), tx, quota.Meter{Subject: subject, BudgetKey: quota.EntryOf(key), ValueKey: key, Used: 1}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		d := live.New(s, box, routing.DefaultLimits(), slog.New(slog.DiscardHandler))
		d.Count(live.LimitOptions{Limiter: quota.NewLimiter(), Meters: s})
		if err := d.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
