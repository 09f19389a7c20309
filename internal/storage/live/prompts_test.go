package live_test

import (
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/prompt"
)

// A published prompt, its labels and its partials are in force with the next look at the
// feed; what is archived is gone.
func TestPromptsAreFollowed(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	if err := p.dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	beta := p.put(prompt.LabelKind, "beta", prompt.Label{Name: "beta"})
	line := prompt.VersionHistory{Default: 1, Newest: 2}
	id := p.put(prompt.Kind, "pp-hello", prompt.Prompt{Name: "Hello", VersionHistory: line, Labels: []prompt.Labelled{{LabelID: beta, Version: 2}, {LabelID: prompt.UniversalID(org, "production"), Version: 1}}})
	p.put(prompt.VersionKind, "", prompt.Version{PromptID: id, Number: 1, String: "One {{>tone}}", Model: "m"})
	p.put(prompt.VersionKind, "", prompt.Version{PromptID: id, Number: 2, String: "Two", Model: "m"})
	p.put(prompt.VersionKind, "", prompt.Version{PromptID: "nobody", Number: 1, String: "x"})
	tone := p.put(prompt.PartialKind, "tone", prompt.Partial{Name: "Tone", VersionHistory: prompt.VersionHistory{Default: 1, Newest: 1}})
	p.put(prompt.PartialVersionKind, "", prompt.PartialVersion{PartialID: tone, Number: 1, String: "kindly"})
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := p.dir.Current()
	for suffix, want := range map[string]string{"": "One kindly", "latest": "Two", "1": "One kindly", "beta": "Two", "production": "One kindly"} {
		for _, name := range []string{"pp-hello", id} {
			compiled, err := s.FindPrompt(workspaceID, name).Find(suffix).Compiled()
			if err != nil {
				t.Fatal(err)
			}
			body, err := compiled.Body(new(prompt.Call), s.Partials(workspaceID))
			if err != nil || string(body.JSON) != `{"model":"m","prompt":"`+want+`"}` {
				t.Errorf("%s@%s: %v, %v", name, suffix, body, err)
			}
		}
	}
	if s.FindPrompt("elsewhere", "pp-hello") != nil || s.FindPrompt(workspaceID, "pp-hello").Find("3") != nil {
		t.Error("found what is not there")
	}
	rec, err := p.store.Find(t.Context(), prompt.Kind, id)
	if err != nil {
		t.Fatal(err)
	}
	rec.Status = resource.Archived
	if err := p.store.InTx(t.Context(), func(tx resource.Tx) error { return tx.Update(t.Context(), rec) }); err != nil {
		t.Fatal(err)
	}
	if err := p.dir.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.dir.Current().FindPrompt(workspaceID, "pp-hello") != nil {
		t.Error("an archived prompt is found")
	}
}
