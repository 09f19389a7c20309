package prompts

import (
	"context"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// promptContents are the fields whose change creates a new version.
var promptContents = []string{
	"string", "parameters", "model", "functions", "tools", "tool_choice", "is_raw_template", "template_metadata", "prompt_metadata", "metadata",
}

// promptNotes are the fields of a version that can change without a new version.
var promptNotes = []string{"virtual_key", "version_description"}

// promptFields are the fields that preparePrompt handles.
var promptFields = slices.Concat([]string{"collection_id", "patch", "ai_model_id"}, promptContents, promptNotes)

// preparePrompt determines what a change means for the versions: a new version, a note on the
// published one, or nothing.
// Source: contract/content-and-observability.md 1.6.
func preparePrompt(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Prompt]) error {
	p := &ch.New.Value
	if err := moveCollected(ctx, c, ch.Old != nil, ch.New.WorkspaceID, &p.CollectionID); err != nil {
		return err
	}
	content, notes := jsonfield.SentAny(ch.Sent, promptContents), jsonfield.SentAny(ch.Sent, promptNotes)
	if !content && !notes {
		return nil
	}
	if err := checkVirtualKey(ctx, c, ch.New.WorkspaceID); err != nil {
		return err
	}
	patch := string(ch.Sent["patch"]) == "true" || content && !slices.ContainsFunc(promptContents, ch.Sent.Has) // only nulls: clear fields of the newest version
	if ch.Old != nil && !content && !patch {
		return noteOnVersion(ctx, c, ch)
	}
	draft, newest, err := draftOf(ctx, c, ch, patch)
	if err != nil || newest != nil && draft.Same(newest) {
		return err
	}
	return addVersion(ctx, c, ch.New, draft)
}

// moveCollected moves an existing record into another collection of its workspace.
func moveCollected(ctx context.Context, c *resource.Call, there bool, workspaceID string, id *string) error {
	name := c.Sent.Text("collection_id")
	if !there || name == "" {
		return nil
	}
	collection, err := findCollection(ctx, c, workspaceID, name, "collection_id")
	if err != nil {
		return err
	}
	*id = collection.ID
	return nil
}

// checkVirtualKey rejects a name that is neither a provider nor a virtual key of the workspace.
func checkVirtualKey(ctx context.Context, c *resource.Call, workspaceID string) error {
	name := strings.TrimPrefix(c.Sent.Text("virtual_key"), "@")
	if name == "" {
		return nil
	}
	for _, kind := range []string{credential.ProviderKind, credential.VirtualKeyKind} {
		if _, err := c.Refer(ctx, kind, workspaceID, name, "virtual_key"); !fault.Has(err, fault.ReferenceMissing) {
			return err
		}
	}
	return fault.New(fault.ReferenceMissing, "the workspace does not have a provider or virtual key with this slug").WithParam("virtual_key")
}

// noteOnVersion changes the published version in place.
func noteOnVersion(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Prompt]) error {
	r, err := findVersion[prompt.Version](ctx, c.Reader, prompt.VersionKind, ch.New.ID, ch.New.Value.Default)
	if err != nil {
		return err
	}
	noted, err := mergeVersion(r.Value, ch.Sent, promptNotes)
	ch.New.Value.Draft = &noted
	return err
}

// draftOf returns the version that a body describes, and the newest existing version, nil at
// creation. With patch, fields that were not sent are copied from the newest version.
func draftOf(ctx context.Context, c *resource.Call, ch *resource.Edit[prompt.Prompt], patch bool) (draft prompt.Version, newest *prompt.Version, err error) {
	if ch.Old != nil {
		r, err := findVersion[prompt.Version](ctx, c.Reader, prompt.VersionKind, ch.New.ID, ch.New.Value.Newest)
		if err != nil {
			return draft, nil, err
		}
		newest = &r.Value
		draft = prompt.Version{VirtualKey: newest.VirtualKey}
		if patch {
			draft = *newest
		}
		for _, name := range []string{"string", "parameters", "model"} {
			if !patch && !ch.Sent.Has(name) {
				return draft, nil, fault.Newf(fault.InvalidParameter, "a new version needs %s; send string, parameters and model together, or set patch to true", name).WithParam(name)
			}
		}
	}
	draft, err = mergeVersion(draft, ch.Sent, slices.Concat(promptContents, promptNotes))
	return draft, newest, err
}

// mergeVersion merges fields that were sent into a version.
func mergeVersion(v prompt.Version, sent resource.Sent, names []string) (prompt.Version, error) {
	fields := make(resource.Sent, len(names))
	for _, n := range names {
		raw, ok := sent[n]
		switch {
		case !ok:
		case n == "is_raw_template":
			if err := jsonfield.SetFlag(sent, n, &v.Raw); err != nil {
				return v, err
			}
		case n == "prompt_metadata" || n == "metadata":
			fields["template_metadata"] = raw
		default:
			fields[n] = raw
		}
	}
	return resource.Overlay(v, fields)
}

// addVersion makes a draft the newest version; the first version is published at once.
func addVersion(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Prompt], draft prompt.Version) error {
	p := &r.Value
	compiled, err := draft.Compile()
	if err != nil {
		return err
	}
	if draft.Partials, err = findPartials(ctx, c, r.WorkspaceID, compiled.Partials()); err != nil {
		return err
	}
	if err := p.Advance(ident.NewID()); err != nil {
		return err
	}
	draft.PromptID, draft.Number = r.ID, p.Newest
	if p.Newest == p.Default {
		p.Model = draft.Model
	}
	p.Uses = prompt.AddUses(p.Uses, draft.Number, draft.Partials)
	p.Draft = &draft
	return nil
}

// afterPrompt writes the version that belongs to a change, and archives the versions of a prompt
// that is archived.
func afterPrompt(ctx context.Context, tx resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Prompt]) error {
	if ch.New.Status == resource.Archived {
		return resource.ArchiveAll(ctx, tx, c, versionsOf(prompt.VersionKind, ch.New.ID))
	}
	d := ch.New.Value.Draft
	switch {
	case d == nil:
		return nil
	case ch.Old == nil || d.Number > ch.Old.Value.Newest:
		return insertVersion(ctx, tx, c, ch.New.Record, prompt.VersionKind, ch.New.Value.NewestID, d.Number, d)
	}
	return rewriteVersion(ctx, tx, c, prompt.VersionKind, ch.New.Value.DefaultID, d)
}
