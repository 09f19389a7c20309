package bootstrap_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/bootstrap"
	"sluice/internal/storage/sqlstore/storetest"
)

func TestDeployment_IsCreatedOnce(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	box, err := sealed.NewBox([]byte("the key of this deployment"))
	if err != nil {
		t.Fatal(err)
	}
	d := bootstrap.Deployment{
		Store: s,
		Keys: bootstrap.KeyMaker{
			Box: box, Hasher: keys.NewHasher([]byte("pepper")), Now: ident.System{}.Now(), Prefix: "sk-",
			Index: func(*keys.Key) []resource.IndexEntry { return nil },
		},
		UserIndex: func(string, *tenant.User) []resource.IndexEntry { return nil },
	}
	first, err := d.Create(t.Context(), "sk-chosen", "")
	if err != nil {
		t.Fatal(err)
	}
	if first.Admin != "sk-chosen" {
		t.Errorf("Admin key: got %q, want the chosen one", first.Admin)
	}
	if first.Workspace == "" {
		t.Error("no workspace key was generated")
	}
	second, err := d.Create(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if second != (bootstrap.FirstKeys{}) {
		t.Errorf("second call: got keys %+v, want none", second)
	}
	for kind, want := range map[string]int{tenant.OrganisationKind: 1, tenant.WorkspaceKind: 1, tenant.UserKind: 1, keys.Kind: 2} {
		n, err := s.Count(t.Context(), resource.Query{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%s records: got %d, want %d", kind, n, want)
		}
	}
	if w, err := bootstrap.DefaultWorkspace(t.Context(), s); err != nil || w.Name != "Shared workspace" {
		t.Errorf("default workspace: %q, %v", w.Name, err)
	}
}
