package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"sluice/internal/credential"
	"sluice/internal/demo"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/resource"
	"sluice/internal/routing"
	"sluice/internal/tenant"
)

// DemoSlug names the scripted provider: "@demo" in calls.
const DemoSlug = "demo"

const demoConfig = "pc-demo"

// startDemo serves the scripted provider on a loopback port and registers it in the
// default workspace: as the provider @demo, and as the workspace's default config
// unless it has one, so that a first call needs no header but the key.
func (a *App) startDemo(ctx context.Context) error {
	if !a.demo {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the scripted provider: %w", err)
	}
	srv := &http.Server{Handler: demo.New(demo.Options{Gap: 40 * time.Millisecond}), ReadHeaderTimeout: 10 * time.Second}
	a.background = append(a.background, part{"scripted provider", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	}})
	return a.registerDemo(ctx, "http://"+l.Addr().String()+"/v1")
}

// trustedHosts are those of the settings; the scripted provider is one more.
func (a *App) trustedHosts() []string {
	if !a.demo {
		return a.set.Security.TrustedCustomHosts
	}
	return append([]string{"127.0.0.1"}, a.set.Security.TrustedCustomHosts...)
}

func (a *App) registerDemo(ctx context.Context, base string) error {
	return a.store.InTx(ctx, func(tx resource.Tx) error {
		place, err := defaultWorkspace(ctx, tx)
		if err != nil {
			return err
		}
		r := registrar{tx: tx, place: place, now: a.clock.Now()}
		in, err := r.integration(ctx, a, base)
		if err != nil {
			return err
		}
		if err := r.put(ctx, credential.ProviderKind, DemoSlug, credential.Provider{Name: "Scripted provider", IntegrationID: in}); err != nil {
			return err
		}
		if err := r.put(ctx, routing.SavedKind, demoConfig, routing.Saved{Name: "Scripted provider", Config: json.RawMessage(`{"provider":"@` + DemoSlug + `"}`)}); err != nil {
			return err
		}
		return r.makeDefault(ctx)
	})
}

// defaultWorkspace finds the workspace that the first start made.
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
	return resource.Record{}, fault.New(fault.NotFound, "there is no default workspace")
}

// registrar writes records of one workspace, making or replacing them.
type registrar struct {
	tx    resource.Tx
	place resource.Record
	now   time.Time
}

func (r *registrar) put(ctx context.Context, kind, slug string, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return r.write(ctx, resource.Record{Kind: kind, ID: ident.NewID(), Slug: slug, Name: "Scripted provider", WorkspaceID: r.place.ID, Body: b})
}

func (r *registrar) write(ctx context.Context, rec resource.Record) error {
	old, err := r.tx.FindSlug(ctx, rec.Kind, r.place.OrgID, rec.Slug)
	switch {
	case err == nil:
		old.Body, old.Status, old.Updated = rec.Body, active, r.now
		return r.tx.Update(ctx, old)
	case !fault.Has(err, fault.NotFound):
		return err
	}
	rec.OrgID, rec.Status, rec.Version, rec.Created, rec.Updated = r.place.OrgID, active, 1, r.now, r.now
	return r.tx.Insert(ctx, rec)
}

// integration writes the credentials of the scripted provider: its address. The
// record's id is part of what they are sealed to, so an old one keeps its own.
func (r *registrar) integration(ctx context.Context, a *App, base string) (string, error) {
	id := ident.NewID()
	if old, err := r.tx.FindSlug(ctx, credential.IntegrationKind, r.place.OrgID, DemoSlug); err == nil {
		id = old.ID
	}
	shut, err := a.box.Seal([]byte(`{"custom_host":"`+base+`"}`), credential.IntegrationKind+"/"+id)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(credential.Integration{
		Name: "Scripted provider", AIProviderID: "custom", Configurations: shut,
		Models: []credential.Model{{Slug: "demo", Enabled: true}, {Slug: "demo-embedding", Enabled: true}, {Slug: "whisper-1", Enabled: true}},
	})
	if err != nil {
		return "", err
	}
	return id, r.write(ctx, resource.Record{Kind: credential.IntegrationKind, ID: id, Slug: DemoSlug, Name: "Scripted provider", WorkspaceID: r.place.ID, Body: body})
}

func (r *registrar) makeDefault(ctx context.Context) error {
	var w tenant.Workspace
	if err := json.Unmarshal(r.place.Body, &w); err != nil {
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
	r.place.Body, r.place.Updated = b, r.now
	return r.tx.Update(ctx, r.place)
}
