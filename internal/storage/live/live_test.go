package live_test

import (
	"context"
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
	"sluice/internal/storage/live"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

const (
	org         = "0191f3a0-0000-7000-8000-000000000001"
	workspaceID = "0191f3a0-0000-7000-8000-000000000002"
)

// plane is a control plane on a real database, and the copy that follows it.
type plane struct {
	t     *testing.T
	store *sqlstore.Store
	box   *sealed.Sealer
	dir   *live.Directory
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	return newPlaneOn(t, storetest.SQLite(t))
}

func newPlaneOn(t *testing.T, database sqlstore.Settings) *plane {
	t.Helper()
	box, err := sealed.NewBox([]byte("a key of the tests, long"))
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Open(t, database)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := &plane{t: t, store: s, box: box}
	p.dir = p.another()
	return p
}

// another is a further copy of the same control plane.
func (p *plane) another() *live.Directory {
	return live.New(p.store, p.box, routing.DefaultLimits(), slog.New(slog.DiscardHandler))
}

func (p *plane) put(kind, slug string, body any) string {
	p.t.Helper()
	id := ident.NewID()
	p.write(resource.Record{Kind: kind, ID: id, OrgID: org, WorkspaceID: workspaceID, Slug: slug, Name: slug, Status: "active"}, body)
	return id
}

func (p *plane) write(r resource.Record, body any) {
	p.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Body = b
	err = p.store.InTx(p.t.Context(), func(tx resource.Tx) error {
		if old, err := tx.Find(p.t.Context(), r.Kind, r.ID); err == nil {
			r.Version = old.Version
			return tx.Update(p.t.Context(), r)
		}
		return tx.Insert(p.t.Context(), r)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *plane) seal(context, text string) []byte {
	p.t.Helper()
	b, err := p.box.Seal([]byte(text), context)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// config saves a config.
func (p *plane) config(slug, text string) {
	p.t.Helper()
	id := ident.NewID()
	p.write(resource.Record{Kind: routing.SavedKind, ID: id, OrgID: org, WorkspaceID: workspaceID, Slug: slug, Name: slug, Status: "active"}, routing.Saved{Sealed: p.seal("config/"+id, text)})
}

func TestLoadAndFollow(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	hash := keys.NewHasher([]byte("pepper")).Sum("sk-1")
	p.write(resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}, tenant.Workspace{Name: "ws", Defaults: tenant.Defaults{ConfigID: "pc-a"}})
	keyID := p.put(keys.Kind, "", keys.Key{Type: access.WorkspaceService, Scopes: []string{"completions.write"}, Secret: keys.Secret{Hash: hash}})
	p.config("pc-a", `{"provider":"@main"}`)
	inID := ident.NewID()
	p.write(resource.Record{Kind: credential.IntegrationKind, ID: inID, OrgID: org, Slug: "in", Name: "in", Status: "active"}, credential.Integration{
		AIProviderID: "azure-openai", Key: p.seal("integration/"+inID, "sk-up"), Configurations: p.seal("integration/"+inID, `{"azure_resource_name":"res","azure_deployment_config":[{"alias":"a"}]}`),
	})
	p.put(credential.ProviderKind, "main", credential.Provider{IntegrationID: inID})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}

	s := p.dir.Current()
	k := s.FindKey(hash)
	if k == nil || k.Principal.WorkspaceID != workspaceID || !k.Principal.Scopes.Has("completions.write") {
		t.Fatalf("key %+v", k)
	}
	if w := s.FindWorkspace(workspaceID); w == nil || w.Defaults.ConfigID != "pc-a" {
		t.Errorf("workspace %+v", w)
	}
	if _, _, slug, ok := s.FindConfig(workspaceID, "pc-a"); !ok || slug != "pc-a" {
		t.Error("the config is not found by its slug")
	}
	if _, _, _, ok := s.FindConfig("another", "pc-a"); ok {
		t.Error("the config is found from another workspace")
	}
	a := s.FindAccount(workspaceID, "main")
	if a == nil || a.Spec != "azure-openai" || a.Values["key"] != "sk-up" || a.Values["azure_resource_name"] != "res" || a.Values["azure_deployment_config"] != `[{"alias":"a"}]` {
		t.Fatalf("account %v", a)
	}

	p.write(resource.Record{Kind: keys.Kind, ID: keyID, OrgID: org, WorkspaceID: workspaceID, Name: "k", Status: "archived"}, keys.Key{Secret: keys.Secret{Hash: hash}})
	p.config("pc-b", `{"provider":"@main","retry":{"attempts":2}}`)
	p.config("pc-bad", `{"nonsense":1}`)
	if err := p.store.InTx(t.Context(), func(tx resource.Tx) error { return tx.Delete(t.Context(), credential.IntegrationKind, inID) }); err != nil {
		t.Fatal(err)
	}
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := p.dir.Current()
	if n.FindKey(hash) != nil || s.FindKey(hash) == nil {
		t.Error("an archived key: the new snapshot must not have it, the old one must not change")
	}
	if _, _, _, ok := n.FindConfig(workspaceID, "pc-b"); !ok {
		t.Error("a new config is not found")
	}
	if _, _, _, ok := n.FindConfig(workspaceID, "pc-bad"); ok {
		t.Error("a config that cannot be used is served")
	}
	if n.FindAccount(workspaceID, "main") != nil {
		t.Error("a provider without its integration is served")
	}
}

// A change is in force without anybody asking for it, and at once when somebody does.
func TestRunFollows(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.dir.Run(ctx) }()
	p.config("pc-a", `{"provider":"@main"}`)
	p.dir.Wake()
	deadline := time.Now().Add(time.Minute)
	for {
		if _, _, _, ok := p.dir.Current().FindConfig(workspaceID, "pc-a"); ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the change is not in force")
		}
		time.Sleep(time.Millisecond) // what is waited for happens on another goroutine
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// When a workspace is gone its keys open nothing, whatever became of their records.
func TestKeysEndWithTheirWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	hash := keys.NewHasher([]byte("pepper")).Sum("sk-1")
	workspace := resource.Record{Kind: tenant.WorkspaceKind, ID: workspaceID, OrgID: org, Slug: "ws", Name: "ws", Status: "active"}
	p.write(workspace, tenant.Workspace{Name: "ws"})
	p.put(keys.Kind, "", keys.Key{Type: access.WorkspaceService, Secret: keys.Secret{Hash: hash}})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.dir.Current().FindKey(hash) == nil {
		t.Fatal("the key is not found")
	}
	workspace.Status = resource.Archived
	p.write(workspace, tenant.Workspace{Name: "ws"})
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.dir.Current().FindKey(hash) != nil {
		t.Error("the key outlives its workspace")
	}
}
