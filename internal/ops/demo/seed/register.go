// Package seed prepares a demonstration: Provider registers the scripted provider in the default
// workspace, and Traffic adds synthetic traffic of past days to the request log.
package seed

import (
	"context"
	"encoding/json"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/ops/demo"
)

// Slug is the slug of the scripted provider: "@demo" in calls.
const Slug = "demo"

const (
	configSlug   = "pc-demo"
	providerName = "Scripted provider"

	// The records are found by their ids, because their slugs may have changed.

	// IntegrationID is the id of the integration with the address of the scripted provider. It
	// is in use only while a demonstration runs.
	IntegrationID = "0191f3a0-0000-7000-8000-00000000de01"
	providerID    = "0191f3a0-0000-7000-8000-00000000de02"
	configID      = "0191f3a0-0000-7000-8000-00000000de03"
)

// Provider registers the scripted provider in the default workspace: as the provider @demo, and as
// the default config if the workspace has none. So a first call needs only the key as a header.
type Provider struct {
	Store resource.Store
	Box   *sealed.Sealer
	Now   time.Time // when new records are created
	// Index returns the index entries of an integration of a workspace.
	Index func(integration *credential.Integration, workspaceID string, present []resource.IndexEntry) []resource.IndexEntry
}

// Register writes the records of the provider at base, for example "http://127.0.0.1:40123/v1".
// It leaves existing records unchanged, except for the address, which changes at each start.
func (p Provider) Register(ctx context.Context, base string) error {
	return p.Store.InTx(ctx, func(tx resource.Tx) error {
		workspace, err := bootstrap.DefaultWorkspace(ctx, tx)
		if err != nil {
			return err
		}
		r := registrar{tx: tx, workspace: workspace, now: p.Now}
		if err := r.integration(ctx, p, base); err != nil {
			return err
		}
		if err := r.put(ctx, credential.ProviderKind, providerID, Slug, credential.Provider{Name: providerName, IntegrationID: IntegrationID}); err != nil {
			return err
		}
		saved := routing.Saved{Name: providerName}
		if err := saved.Seal(p.Box, configID, []byte(`{"provider":"@`+Slug+`"}`)); err != nil {
			return err
		}
		if err := r.put(ctx, routing.SavedKind, configID, configSlug, saved); err != nil {
			return err
		}
		return r.makeDefault(ctx)
	})
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
		Kind: kind, ID: id, OrgID: r.workspace.OrgID, WorkspaceID: r.workspace.ID, Slug: slug, Name: providerName,
		Status: resource.Active, Version: 1, Created: r.now, Updated: r.now,
	}
}

// integration writes the credentials of the scripted provider: its address, which changes at each
// start.
func (r *registrar) integration(ctx context.Context, p Provider, base string) error {
	shut, err := p.Box.Seal([]byte(`{"custom_host":"`+base+`"}`), credential.IntegrationKind+"/"+IntegrationID)
	if err != nil {
		return err
	}
	integration := credential.Integration{
		Name: providerName, AIProviderID: "custom", Configurations: shut,
		Models: []credential.Model{
			{Slug: demo.AnyModel, Enabled: true, Pricing: price("0.4", "1.6")}, {Slug: demo.ChatModel, Enabled: true, Pricing: price("2", "8")},
			{Slug: demo.EmbeddingModel, Enabled: true, Pricing: price("0.02", "0")}, {Slug: demo.TranscribeModel, Enabled: true, Pricing: price("2.5", "10")},
		},
	}
	body, err := json.Marshal(integration)
	if err != nil {
		return err
	}
	old, err := r.tx.Find(ctx, credential.IntegrationKind, IntegrationID)
	if err == nil {
		old.Body, old.Updated = body, r.now
		return r.tx.Update(ctx, old)
	}
	if !fault.Has(err, fault.NotFound) {
		return err
	}
	rec := r.fresh(credential.IntegrationKind, IntegrationID, Slug)
	rec.Body, rec.Index = body, p.Index(&integration, r.workspace.ID, nil)
	return r.tx.Insert(ctx, rec)
}

// price returns a price in dollars for a million tokens of input and output.
func price(input, output string) json.RawMessage {
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
	w.Defaults.ConfigID = configSlug
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	r.workspace.Body, r.workspace.Updated = b, r.now
	return r.tx.Update(ctx, r.workspace)
}
