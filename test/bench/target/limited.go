package target

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
	"sluice/internal/storage/sqlstore"
)

// Policies is how many policies the workspace of Limited.Governed has, half of them
// budgets.
const Policies = 50

// Limited is Sluice with limits that bind each call and refuse none.
type Limited struct {
	*Sluice
	LimitedKeys []string // values of Keys keys with budgets and rates, in a workspace that has the same
	Governed    string   // value of a key without any, in a workspace with Policies that all match its calls
	sealing     string
}

// StartLimited starts the program at path before u as StartSluice does, with a store that
// was filled before; with its limits on Redis when r is not nil.
func StartLimited(ctx context.Context, path, dir string, u *Upstream, r *Redis) (_ *Limited, err error) {
	s, command := newSluice(path, dir, u)
	l := &Limited{Sluice: s, Governed: "bench-" + rand.Text(), sealing: rand.Text()}
	command.Env = append(command.Env, "ENCRYPTION_KEY="+l.sealing)
	if err := l.start(ctx, command); err != nil {
		return nil, err
	}
	if err := l.Stop(); err != nil {
		return nil, err
	}
	if err := l.fill(ctx, SQLite().settings(filepath.Join(dir, "data"))); err != nil {
		return nil, fmt.Errorf("fill the store: %w", err)
	}
	if r != nil {
		command.Env = append(command.Env, "REDIS_URL=redis://"+r.Addr+"/0")
	}
	return l, l.start(ctx, command)
}

// fill stores workspaces, keys and policies as the administration would.
func (l *Limited) fill(ctx context.Context, set sqlstore.Settings) (err error) {
	s, err := sqlstore.Open(ctx, set, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	orgs, err := s.List(ctx, resource.Query{Kind: tenant.OrganisationKind})
	if err != nil {
		return err
	}
	hasher, err := l.hasher(ctx, s)
	if err != nil {
		return err
	}
	f := filler{org: orgs[0].ID, hasher: hasher}
	raw, budgets := ampleBudgets()
	workspaceID := f.add(resource.Record{Kind: tenant.WorkspaceKind, Slug: "ws-bound"}, tenant.Workspace{Name: "Bound", UsageLimits: raw, RateLimits: ampleRates})
	f.metered(quota.Subject{Kind: tenant.WorkspaceKind, ID: workspaceID, WorkspaceID: workspaceID}, budgets)
	for i := range Keys {
		l.LimitedKeys = append(l.LimitedKeys, "bench-"+rand.Text())
		raw, budgets := ampleBudgets()
		id := f.key(workspaceID, l.LimitedKeys[i], keys.Key{Name: "Bound " + strconv.Itoa(i), UsageLimits: raw, RateLimits: ampleRates})
		f.metered(quota.Subject{Kind: keys.Kind, ID: id, WorkspaceID: workspaceID}, budgets)
	}
	governed := f.add(resource.Record{Kind: tenant.WorkspaceKind, Slug: "ws-governed"}, tenant.Workspace{Name: "Governed"})
	f.key(governed, l.Governed, keys.Key{Name: "Governed"})
	for i := range Policies / 2 {
		conditions, groups := matching(i)
		budget := budgetPolicy(i, conditions, groups)
		id := f.add(resource.Record{Kind: quota.UsageLimitKind, WorkspaceID: governed}, budget)
		f.metered(quota.Subject{Kind: quota.UsageLimitKind, ID: id, WorkspaceID: governed}, []quota.Budget{budget.Budget})
		f.add(resource.Record{Kind: quota.RateLimitKind, WorkspaceID: governed}, ratePolicy(i, conditions, groups))
	}
	return errors.Join(f.err, insert(ctx, s, f.all), insertMeters(ctx, s, f.meters))
}

// hasher hashes keys as the deployment does, whose pepper is in its store; internal/app
// puts it there.
func (l *Limited) hasher(ctx context.Context, s *sqlstore.Store) (*keys.Hasher, error) {
	const kind, slug = "deployment", "key-pepper"
	box, err := sealed.NewBox([]byte(l.sealing))
	if err != nil {
		return nil, err
	}
	r, err := s.FindSlug(ctx, kind, "", slug)
	if err != nil {
		return nil, err
	}
	var body struct{ Sealed []byte }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return nil, err
	}
	pepper, err := box.Open(body.Sealed, kind+"/"+slug)
	return keys.NewHasher(pepper), err
}

// filler collects what is to be stored.
type filler struct {
	org    string
	hasher *keys.Hasher
	all    []resource.Record
	meters []quota.Meter
	err    error // the first
}

// add makes a record of a body and returns its id.
func (f *filler) add(r resource.Record, body any) string {
	r.OrgID = f.org
	r, err := stored(r, body)
	if f.err == nil {
		f.err = err
	}
	f.all = append(f.all, r)
	return r.ID
}

// metered adds the meters of budgets.
func (f *filler) metered(subject quota.Subject, budgets []quota.Budget) {
	subject.OrgID = f.org
	for i := range budgets {
		b := &budgets[i]
		f.meters = append(f.meters, quota.Meter{Subject: subject, BudgetKey: b.ID, Limit: b.Limit(), Threshold: b.Threshold(), NextReset: b.First(time.Now())})
	}
}

func insertMeters(ctx context.Context, s *sqlstore.Store, all []quota.Meter) error {
	for some := range slices.Chunk(all, seedBatch) {
		if err := s.InTx(ctx, func(tx resource.Tx) (err error) {
			for i := 0; i < len(some) && err == nil; i++ {
				err = s.AddMeter(ctx, tx, some[i])
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// key adds a key with a value and returns its id.
func (f *filler) key(workspace, raw string, k keys.Key) string {
	k.Type, k.Scopes, k.CreationMode = access.WorkspaceService, access.Allowed(access.WorkspaceService), "api"
	k.Secret = keys.Secret{Hash: f.hasher.Sum(raw), Masked: keys.Mask(raw)}
	return f.add(resource.Record{Kind: keys.Kind, WorkspaceID: workspace, Name: k.Name, Index: apikeys.KeyIndex(&k)}, k)
}

// ample is a limit that no benchmark reaches.
const ample = 1_000_000_000

// ampleBudgets are one of cost and one of tokens, as a record has them and read.
func ampleBudgets() (raw json.RawMessage, read []quota.Budget) {
	raw = fmt.Appendf(nil, `[{"id":"%s","type":"cost","credit_limit":%d},{"id":"%s","type":"tokens","credit_limit":%d,"periodic_reset":"monthly"}]`,
		ident.NewID(), ample, ident.NewID(), ample)
	if err := json.Unmarshal(raw, &read); err != nil {
		panic(err) // it is written above
	}
	return raw, read
}

// ampleRates are those of requests and of tokens, by the minute and by the day.
var ampleRates = fmt.Appendf(nil, `[{"type":"requests","unit":"rpm","value":%[1]d},{"type":"requests","unit":"rpd","value":%[1]d},`+
	`{"type":"tokens","unit":"rpm","value":%[1]d},{"type":"tokens","unit":"rpd","value":%[1]d}]`, ample)

// GovernedModel and GovernedMetadata are the model and the x-gateway-metadata of calls
// that all policies of Limited match.
const (
	GovernedModel    = "gpt-4o-mini"
	GovernedMetadata = `{"team":"search"}`
)

// matching are the conditions and groups of the ith policy: what is asked for and counted
// by takes turns.
func matching(i int) ([]quota.Condition, []quota.GroupBy) {
	conditions := [][]quota.Condition{
		{{Key: "metadata.team", Value: quota.Values{"search", "billing"}}},
		{{Key: "model", Value: quota.Values{"@openai/*"}}},
		{{Key: "provider", Value: quota.Values{"openai", "anthropic"}}, {Key: "metadata.team", Value: quota.Values{"*"}}},
	}
	groups := [][]quota.GroupBy{{{Key: "metadata.team"}}, {{Key: "model"}}, {{Key: "provider"}}, {{Key: "metadata.team"}, {Key: "model"}}}
	return conditions[i%len(conditions)], groups[i%len(groups)]
}

func budgetPolicy(i int, conditions []quota.Condition, groups []quota.GroupBy) quota.UsageLimit {
	measures := []quota.Measure{quota.Cost, quota.TokenCount}
	return quota.UsageLimit{
		Name: "Budget " + strconv.Itoa(i), Conditions: conditions, GroupBy: groups,
		Budget: quota.Budget{Measure: measures[i%len(measures)], CreditLimit: ample * quota.One},
	}
}

func ratePolicy(i int, conditions []quota.Condition, groups []quota.GroupBy) quota.RateLimit {
	types, units := []quota.Type{quota.Requests, quota.Tokens}, []quota.Unit{quota.PerMinute, quota.PerHour, quota.PerDay}
	return quota.RateLimit{
		Name: "Rate " + strconv.Itoa(i), Conditions: conditions, GroupBy: groups,
		Type: types[i%len(types)], Unit: units[i%len(units)], Value: ample,
	}
}
