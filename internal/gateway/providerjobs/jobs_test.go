package providerjobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/providerjobs"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

var prices = catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()))

// snapshot has no accounts and no limits.
type snapshot struct{}

func (snapshot) FindWorkspace(string) *tenant.Scope                    { return nil }
func (snapshot) FindAccount(string, string) *credential.Account        { return nil }
func (snapshot) Agreement(*credential.Account) *catalog.PriceOverrides { return nil }
func (snapshot) Limits(string, string) *quota.Plan                     { return quota.NoPlan() }
func (snapshot) IntegrationLimits(string, string) *quota.Plan          { return quota.NoPlan() }
func (snapshot) Policies(string) *quota.Policies                       { return nil }

// provider responds to every call with one status and one body.
type provider struct {
	status int
	body   string
	paths  []string // that were called
}

func (p *provider) Get(_ context.Context, _ *keys.Entry, _ *providerjobs.Access, path string) (*providerjobs.Response, error) {
	p.paths = append(p.paths, path)
	return &providerjobs.Response{Status: p.status, Body: strings.NewReader(p.body), Close: func() {}}, nil
}

// recorder stores records.
type recorder struct{ records []*record.Attempt }

func (r *recorder) RecordJob(a *record.Attempt) { r.records = append(r.records, a) }

func newJobs(p *provider, r *recorder) *providerjobs.Jobs {
	return providerjobs.New(providerjobs.Deps{
		Snapshot: func() providerjobs.Snapshot { return snapshot{} }, Prices: prices, Limiter: quota.NewLimiter(), Upstream: p, Recorder: r,
		Counter: tokens.New(), Clock: ident.System{}, Log: slog.New(slog.DiscardHandler), MaxUploadBytes: 1 << 20, MaxBodyBytes: 1 << 10,
	})
}

// videoCall is a call that creates a video of eight seconds, which costs 0.8 dollars.
func videoCall(budgeted bool) (*providerjobs.Call, *providerjobs.Plan) {
	c := &providerjobs.Call{
		Key: &keys.Entry{}, Endpoint: llm.Proxy, Method: "POST", Path: "/videos", Document: []byte(`{"model":"sora-2","seconds":"8","size":"1280x720"}`),
		Target: &routing.Target{}, Provider: "openai", Model: "sora-2", PriceName: "sora-2", Budgeted: budgeted,
	}
	return c, &providerjobs.Plan{Kind: providerjob.Video, Model: c.Model, PriceName: c.PriceName, RateCard: prices.Find("openai", c.PriceName, nil)}
}

const videoNano = 800_000_000

func TestEstimate_ComputesTheMaximumCostOfAVideo(t *testing.T) {
	t.Parallel()
	c, p := videoCall(true)
	if err := newJobs(&provider{}, &recorder{}).Estimate(t.Context(), c, p); err != nil {
		t.Fatal(err)
	}
	if p.MaxCostNano != videoNano {
		t.Errorf("maximum cost %d, want %d", p.MaxCostNano, videoNano)
	}
}

func TestEstimate_RejectsUnknownCostUnderABudgetOnly(t *testing.T) {
	t.Parallel()
	for name, budgeted := range map[string]bool{"with a budget": true, "without a budget": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, p := videoCall(budgeted)
			c.Document = nil // a body that was not parsed
			err := newJobs(&provider{}, &recorder{}).Estimate(t.Context(), c, p)
			if rejected := fault.Has(err, fault.BudgetExhausted); rejected != budgeted || err != nil != budgeted {
				t.Errorf("got %v, want a rejection: %t", err, budgeted)
			}
		})
	}
}

func TestEstimate_ReadsABatchFileUnderABudgetOnly(t *testing.T) {
	t.Parallel()
	for name, budgeted := range map[string]bool{"with a budget": true, "without a budget": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := &provider{200, `{"url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}}`, nil}
			c, p := videoCall(budgeted)
			c.Endpoint, c.Path, c.Model, c.PriceName = llm.CreateBatch, "/batches", "", ""
			c.Document = []byte(`{"input_file_id":"file_1","endpoint":"/v1/chat/completions","completion_window":"24h"}`)
			p.Kind, p.Model, p.PriceName = providerjob.Batch, "", ""
			if err := newJobs(up, &recorder{}).Estimate(t.Context(), c, p); err != nil {
				t.Fatal(err)
			}
			if read := len(up.paths) == 1 && up.paths[0] == "/files/file_1/content"; read != budgeted {
				t.Errorf("calls to %v, want the file to be read: %t", up.paths, budgeted)
			}
			if named := p.Model == "gpt-4o-mini" && p.MaxCostNano > 0; named != budgeted {
				t.Errorf("model %q and maximum cost %d, want them to be known: %t", p.Model, p.MaxCostNano, budgeted)
			}
		})
	}
}

func TestOpen_ReportsThatAJobCannotBePolledWithoutATracker(t *testing.T) {
	t.Parallel()
	c, p := videoCall(true)
	if newJobs(&provider{}, &recorder{}).Open(c, p, []byte(`{"id":"video_1"}`), nil) {
		t.Error("a job is polled without a tracker")
	}
}

func TestCheckJob_BillsAJobThatHasEnded(t *testing.T) {
	t.Parallel()
	job := &providerjob.Job{Kind: providerjob.Video, Path: "/videos/video_1", Provider: "openai", Model: "sora-2", Endpoint: llm.Proxy, Units: []providerjob.Unit{{Name: providerjob.VideoAt("1280x720"), Count: 8}}}
	for name, c := range map[string]struct {
		status    int
		body      string
		ended     bool
		err       error
		cost      int64
		wantState string
	}{
		"running":   {200, `{"id":"video_1","status":"in_progress"}`, false, nil, 0, ""},
		"completed": {200, `{"id":"video_1","status":"completed"}`, true, nil, videoNano, "settled"},
		"failed":    {200, `{"id":"video_1","status":"failed"}`, true, nil, 0, "released"},
		"unknown":   {404, `{}`, false, providerjob.ErrRefused, 0, ""},
		"not JSON":  {200, `<html>`, false, providerjob.ErrRefused, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			got, err := newJobs(&provider{c.status, c.body, nil}, r).CheckJob(t.Context(), job)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if (got != nil) != c.ended {
				t.Fatalf("result %v, want one: %t", got, c.ended)
			}
			if got == nil {
				return
			}
			got.Record()
			if got.Cost != c.cost || r.records[0].Spend.Cost != c.cost || r.records[0].Spend.State != c.wantState {
				t.Errorf("cost %d, recorded %+v; want %d, %s", got.Cost, r.records[0].Spend, c.cost, c.wantState)
			}
		})
	}
}

func TestCheckJob_NeedsTheAccessOfAPrivateJob(t *testing.T) {
	t.Parallel()
	_, err := newJobs(&provider{}, &recorder{}).CheckJob(t.Context(), &providerjob.Job{Kind: providerjob.Video, Private: true})
	if !errors.Is(err, providerjob.ErrNoCredential) {
		t.Errorf("error %v, want ErrNoCredential", err)
	}
}

func TestAbandonJob_BillsTheMaximum(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	got := newJobs(&provider{}, r).AbandonJob(&providerjob.Job{Kind: providerjob.Video, Provider: "openai", MaxCostNano: 7}, "it is gone")
	got.Record()
	if got.Cost != 7 || r.records[0].Spend.State != "unknown" || r.records[0].Error != "it is gone" {
		t.Errorf("cost %d, record %+v", got.Cost, r.records[0])
	}
}
