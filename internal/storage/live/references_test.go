package live_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// A mapping leads to its reference while that is there and the workspace may use it.
func TestSecretReferences(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	refID := ident.NewID()
	ref := resource.Record{Kind: credential.SecretReferenceKind, ID: refID, OrgID: org, Slug: "vault", Name: "vault", Status: "active"}
	write := func(s credential.SecretReference) {
		t.Helper()
		s.Manager, s.Path, s.Key = credential.HashiCorpVault, "kv/one", "member"
		s.Auth = p.seal(credential.ReferenceContext(refID), `{"vault_auth_type":"token","vault_token":"hvs.t"}`)
		p.write(ref, s)
	}
	write(credential.SecretReference{All: true})
	inID := ident.NewID()
	p.write(resource.Record{Kind: credential.IntegrationKind, ID: inID, OrgID: org, Slug: "in", Name: "in", Status: "active"}, credential.Integration{
		AIProviderID: "openai", Mappings: []sealed.Mapping{{Field: "key", Reference: refID}, {Field: "openai_project", Reference: refID, Key: "project", Format: "json"}},
	})
	p.put(credential.ProviderKind, "main", credential.Provider{IntegrationID: inID})
	p.put(credential.VirtualKeyKind, "vk", credential.VirtualKey{Provider: "openai", Mappings: []sealed.Mapping{{Field: "key", Reference: refID}}})
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	uses := p.dir.Current().FindAccount(workspaceID, "main").Secrets
	if len(uses) != 2 || uses[0].Key != "member" || uses[1].Key != "project" || uses[1].Format != "json" || uses[0].Source == nil || uses[0].Source.Auth["vault_token"] != "hvs.t" {
		t.Fatalf("%+v", uses)
	}
	first := uses[0].Source.Revision
	for _, c := range []struct {
		what string
		next credential.SecretReference
		has  bool
	}{
		{"for this workspace", credential.SecretReference{Workspaces: []string{workspaceID}}, true},
		{"for another one", credential.SecretReference{Workspaces: []string{org}}, false},
	} {
		write(c.next)
		if err := p.dir.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, slug := range []string{"main", "vk"} {
			s := p.dir.Current().FindAccount(workspaceID, slug).Secrets[0].Source
			if (s != nil) != c.has || s != nil && s.Revision == first {
				t.Errorf("%s, %s: %+v", slug, c.what, s)
			}
		}
	}
}
