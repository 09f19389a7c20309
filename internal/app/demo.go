package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"sluice/internal/admin"
	"sluice/internal/credential"
	"sluice/internal/demo"
	"sluice/internal/fault"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/tenant"
)

// DemoSlug is the slug of the scripted provider: "@demo" in calls.
const DemoSlug = "demo"

const (
	demoConfig = "pc-demo"
	demoName   = "Scripted provider"

	// The records are found by their ids, because their slugs may have changed.
	demoIntegration = "0191f3a0-0000-7000-8000-00000000de01"
	demoProvider    = "0191f3a0-0000-7000-8000-00000000de02"
	demoRouting     = "0191f3a0-0000-7000-8000-00000000de03"
)

// startDemo serves the scripted provider on a loopback port and registers it in the default
// workspace: as the provider @demo, and as the default config if the workspace has none. So a
// first call needs only the key as a header.
func (a *App) startDemo(ctx context.Context) error {
	if !a.demo {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the scripted provider: %w", err)
	}
	srv := &http.Server{Handler: demo.New(demo.Options{Gap: 40 * time.Millisecond}), ReadHeaderTimeout: 10 * time.Second}
	a.background = append(a.background, service{"scripted provider", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	}})
	return a.registerDemo(ctx, "http://"+l.Addr().String()+"/v1")
}

// trustedHosts returns the trusted hosts of the settings, and the scripted provider.
func (a *App) trustedHosts() []string {
	if !a.demo {
		return a.set.Security.TrustedCustomHosts
	}
	return append([]string{"127.0.0.1"}, a.set.Security.TrustedCustomHosts...)
}

func (a *App) registerDemo(ctx context.Context, base string) error {
	return a.store.InTx(ctx, func(tx resource.Tx) error {
		workspace, err := defaultWorkspace(ctx, tx)
		if err != nil {
			return err
		}
		r := registrar{tx: tx, workspace: workspace, now: a.clock.Now()}
		if err := r.integration(ctx, a, base); err != nil {
			return err
		}
		if err := r.put(ctx, credential.ProviderKind, demoProvider, DemoSlug, credential.Provider{Name: demoName, IntegrationID: demoIntegration}); err != nil {
			return err
		}
		saved := routing.Saved{Name: demoName}
		if err := saved.Seal(a.box, demoRouting, []byte(`{"provider":"@`+DemoSlug+`"}`)); err != nil {
			return err
		}
		if err := r.put(ctx, routing.SavedKind, demoRouting, demoConfig, saved); err != nil {
			return err
		}
		return r.makeDefault(ctx)
	})
}

// defaultWorkspace finds the workspace that the first start created.
func defaultWorkspace(ctx context.Context, r resource.Reader) (resource.Record, error) {
	rows, err := r.List(ctx, resource.Query{Kind: tenant.WorkspaceKind, Limit: 1000, Statuses: []string{active}})
	if err != nil {
		return resource.Record{}, err
	}
	for _, row := range rows {
		var w tenant.Workspace
		if json.Unmarshal(row.Body, &w) == nil && w.IsDefault {
			return row, nil
		}
	}
	return resource.Record{}, fault.New(fault.NotFound, "the default workspace does not exist")
}

// registrar writes records of one workspace.
type registrar struct {
	tx        resource.Tx
	workspace resource.Record
	now       time.Time
}

// put creates a record of the workspace. It leaves an existing record unchanged, because a user
// may have edited it.
func (r *registrar) put(ctx context.Context, kind, id, slug string, body any) error {
	if _, err := r.tx.Find(ctx, kind, id); !fault.Has(err, fault.NotFound) {
		return err
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	rec := r.fresh(kind, id, slug)
	rec.Body = b
	return r.tx.Insert(ctx, rec)
}

func (r *registrar) fresh(kind, id, slug string) resource.Record {
	return resource.Record{
		Kind: kind, ID: id, OrgID: r.workspace.OrgID, WorkspaceID: r.workspace.ID, Slug: slug, Name: demoName,
		Status: active, Version: 1, Created: r.now, Updated: r.now,
	}
}

// integration writes the credentials of the scripted provider: its address, which changes at each
// start.
func (r *registrar) integration(ctx context.Context, a *App, base string) error {
	shut, err := a.box.Seal([]byte(`{"custom_host":"`+base+`"}`), credential.IntegrationKind+"/"+demoIntegration)
	if err != nil {
		return err
	}
	integration := credential.Integration{
		Name: demoName, AIProviderID: "custom", Configurations: shut,
		Models: []credential.Model{
			{Slug: demo.AnyModel, Enabled: true, Pricing: demoPrice("0.4", "1.6")}, {Slug: demo.ChatModel, Enabled: true, Pricing: demoPrice("2", "8")},
			{Slug: demo.EmbeddingModel, Enabled: true, Pricing: demoPrice("0.02", "0")}, {Slug: demo.TranscribeModel, Enabled: true, Pricing: demoPrice("2.5", "10")},
		},
	}
	body, err := json.Marshal(integration)
	if err != nil {
		return err
	}
	old, err := r.tx.Find(ctx, credential.IntegrationKind, demoIntegration)
	if err == nil {
		old.Body, old.Updated = body, r.now
		return r.tx.Update(ctx, old)
	}
	if !fault.Has(err, fault.NotFound) {
		return err
	}
	rec := r.fresh(credential.IntegrationKind, demoIntegration, DemoSlug)
	rec.Body, rec.Index = body, admin.IntegrationIndex(&integration, r.workspace.ID, nil)
	return r.tx.Insert(ctx, rec)
}

// demoPrice returns a price in dollars for a million tokens of input and output.
func demoPrice(input, output string) json.RawMessage {
	return json.RawMessage(`{"type":"static","pay_as_you_go":{"request_token":{"price":` + input + `},"response_token":{"price":` + output + `}}}`)
}

func (r *registrar) makeDefault(ctx context.Context) error {
	var w tenant.Workspace
	if err := json.Unmarshal(r.workspace.Body, &w); err != nil {
		return err
	}
	if w.Defaults.ConfigID != "" {
		return nil
	}
	w.Defaults.ConfigID = demoConfig
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	r.workspace.Body, r.workspace.Updated = b, r.now
	return r.tx.Update(ctx, r.workspace)
}
