package live_test

import (
	"context"
	"slices"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
)

// What has to be known of a kind of provider is learnt before a provider of it is in force,
// once: of those that are there at first, and of each that is saved later.
func TestKindsAreLearntAhead(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	save := func(slug, kind string) {
		id := ident.NewID()
		p.write(resource.Record{Kind: credential.IntegrationKind, ID: id, OrgID: org, Slug: slug, Name: slug, Status: "active"}, credential.Integration{AIProviderID: kind, Key: p.seal("integration/"+id, "sk-up")})
		p.put(credential.ProviderKind, slug, credential.Provider{IntegrationID: id})
	}
	save("first", "openai")
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var learnt []string
	p.dir.OnNewProviders(t.Context(), func(_ context.Context, kinds []string) {
		learnt = append(learnt, kinds...)
		if p.dir.Current().FindAccount(workspaceID, "second") != nil {
			t.Error("learnt too late")
		}
	})
	if want := []string{"openai"}; !slices.Equal(learnt, want) {
		t.Errorf("learnt %v at first, want %v", learnt, want)
	}
	save("second", "groq")
	save("third", "openai")
	for range 2 {
		if err := p.dir.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"openai", "groq"}; !slices.Equal(learnt, want) || p.dir.Current().FindAccount(workspaceID, "second") == nil {
		t.Errorf("learnt %v, want %v, and the provider in force", learnt, want)
	}
}
