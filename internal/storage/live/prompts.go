package live

import (
	"encoding/json"

	"sluice/internal/control/resource"
	"sluice/internal/domain/prompt"
)

type savedPrompt struct {
	workspace string
	saved     prompt.Saved // without versions and labels
}

func decodePrompt(_ *Directory, r resource.Record) (any, error) {
	p := &savedPrompt{r.WorkspaceID, prompt.Saved{ID: r.ID, Slug: r.ShownSlug(), OrgID: r.OrgID, Prompt: new(prompt.Prompt)}}
	return p, json.Unmarshal(r.Body, p.saved.Prompt)
}

type promptVersion struct {
	prompt string
	entry  *prompt.Entry
}

func decodePromptVersion(_ *Directory, r resource.Record) (any, error) {
	v := new(prompt.Version)
	if err := json.Unmarshal(r.Body, v); err != nil {
		return nil, err
	}
	return &promptVersion{v.PromptID, prompt.NewEntry(r.ID, v)}, nil
}

type savedPartial struct {
	workspace, slug string
	partial         prompt.Partial
}

func decodePartial(_ *Directory, r resource.Record) (any, error) {
	p := &savedPartial{workspace: r.WorkspaceID, slug: r.ShownSlug()}
	return p, json.Unmarshal(r.Body, &p.partial)
}

type partialVersion struct {
	partial string
	entry   *prompt.PartialEntry
}

func decodePartialVersion(_ *Directory, r resource.Record) (any, error) {
	v := new(prompt.PartialVersion)
	if err := json.Unmarshal(r.Body, v); err != nil {
		return nil, err
	}
	return &partialVersion{v.PartialID, prompt.NewPartialEntry(v)}, nil
}

type label struct{ workspace, name string }

func decodeLabel(_ *Directory, r resource.Record) (any, error) {
	var l prompt.Label
	return &label{r.WorkspaceID, r.Name}, json.Unmarshal(r.Body, &l)
}

// addPrompts combines prompts and partials with their versions. It skips versions of deleted
// prompts and partials.
func (p parts) addPrompts(s *Snapshot, _ changedParts) {
	s.prompts, s.shelves = make(map[ref]*prompt.Saved), make(map[string]prompt.PartialSet)
	labels := make(map[string]map[string]string)
	for id, v := range p[prompt.LabelKind] {
		l := v.(*label)
		if labels[l.workspace] == nil {
			labels[l.workspace] = make(map[string]string)
		}
		labels[l.workspace][l.name] = id
	}
	byID := make(map[string]*prompt.Saved, len(p[prompt.Kind]))
	for id, v := range p[prompt.Kind] {
		sp := v.(*savedPrompt)
		one := sp.saved
		one.Versions, one.Labels = make(map[int]*prompt.Entry), labels[sp.workspace]
		byID[id], s.prompts[ref{sp.workspace, one.Slug}], s.prompts[ref{sp.workspace, id}] = &one, &one, &one
	}
	for _, v := range p[prompt.VersionKind] {
		if pv := v.(*promptVersion); byID[pv.prompt] != nil {
			byID[pv.prompt].Versions[pv.entry.Number] = pv.entry
		}
	}
	p.addPartials(s)
}

func (p parts) addPartials(s *Snapshot) {
	byID := make(map[string]*prompt.SavedPartial, len(p[prompt.PartialKind]))
	for id, v := range p[prompt.PartialKind] {
		sp := v.(*savedPartial)
		if s.shelves[sp.workspace] == nil {
			s.shelves[sp.workspace] = make(prompt.PartialSet)
		}
		one := &prompt.SavedPartial{Partial: &sp.partial, Versions: make(map[int]*prompt.PartialEntry)}
		byID[id], s.shelves[sp.workspace][sp.slug], s.shelves[sp.workspace][id] = one, one, one
	}
	for _, v := range p[prompt.PartialVersionKind] {
		if pv := v.(*partialVersion); byID[pv.partial] != nil {
			byID[pv.partial].Versions[pv.entry.Number] = pv.entry
		}
	}
}

// FindPrompt returns a saved prompt of a workspace by slug or id, nil if there is none.
func (s *Snapshot) FindPrompt(workspace, name string) *prompt.Saved {
	return s.prompts[ref{workspace, name}]
}

// Partials returns the saved partials of a workspace.
func (s *Snapshot) Partials(workspace string) prompt.Source { return s.shelves[workspace] }
