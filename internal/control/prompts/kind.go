package prompts

import (
	"cmp"
	"context"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/prompt"
)

// prompts are the saved prompts. The record of a prompt lists its versions and their labels;
// each version is a separate record whose content never changes.
// Source: contract/content-and-observability.yaml, prompts; .md section 1.
func prompts() *resource.Kind[prompt.Prompt, promptView] {
	return &resource.Kind[prompt.Prompt, promptView]{
		Name: prompt.Kind, Object: "prompt", Title: "prompt", Tag: "Prompts", Audited: "prompts",
		Path: "/prompts", Param: "promptId", Slug: "pp", Suffix: "@", Perm: "prompts",
		Verbs: resource.AllVerbs, Scope: resource.Located, Locate: locatePrompt, PageSize: 100,
		Create: promptIn{}, Update: promptPatch{}, PreparedFields: promptFields,
		Filters: []resource.Filter{listing.SearchFilter(), collectionFilter()},
		Select:  selectCollected,
		Views:   []resource.Param{{Name: "version", Doc: "Version number, latest, or a label; defaults to the published version"}},
		Prepare: preparePrompt,
		Refs: []resource.Ref[prompt.Prompt]{
			{Kind: prompt.PartialKind, All: func(_ context.Context, _ *resource.Call, r *resource.Row[prompt.Prompt]) ([]*resource.Record, error) {
				return known(r.Value.PartialsInUse()), nil
			}},
		},
		Index: func(r *resource.Row[prompt.Prompt]) []resource.IndexEntry {
			entries := parentEntries(r.Value.CollectionID)
			for _, l := range r.Value.Labels {
				entries = append(entries, resource.IndexEntry{Name: entryLabel, Value: l.LabelID})
			}
			return entries
		},
		After:   afterPrompt,
		View:    viewPrompt,
		Receipt: &resource.WriteResponse[prompt.Prompt]{Shape: promptReceipt{}, Make: receivePrompt},
		Done:    &resource.WriteResponse[prompt.Prompt]{Shape: promptDone{}, Make: changedPrompt},
		Actions: []resource.Action[prompt.Prompt]{
			{
				Name: "read", Method: http.MethodGet, Path: "/versions", ID: "listPromptVersions", Summary: "List the versions of a prompt, newest first",
				Query: versionPaging(), Response: resource.ListOf[promptVersionView]{}, Read: listPromptVersions,
			},
			{
				Name: "read", Method: http.MethodGet, Path: "/versions/{versionId}", ID: "getPromptVersion", Summary: "Read one version of a prompt",
				Params: versionParam(), Response: promptView{}, Read: getPromptVersion,
			},
			{
				Name: "label", Scope: "update", Method: http.MethodPut, Path: "/versions/{versionId}", ID: "labelPromptVersion", Summary: "Label a version of a prompt",
				Params: versionParam(), Body: labelVersionIn{}, Run: labelPromptVersion,
			},
			{
				Name: "publish", Method: http.MethodPut, Path: "/makeDefault", ID: "publishPrompt", Summary: "Publish a version, so that calls run it",
				Body: publishIn{}, Run: publishPrompt,
			},
		},
	}
}

// labelVersionIn is the body of a labelling.
type labelVersionIn struct {
	LabelID *string `json:"label_id" nullable:"true" format:"uuid" doc:"Label to move to this version; null removes all labels from the version"`
}

// publishIn is the body of a publication.
type publishIn struct {
	Version int `json:"version" minimum:"1" doc:"Number of the version"`
}

func versionParam() []resource.Param {
	return []resource.Param{{Name: "versionId", Doc: "Id of the version", Format: "uuid"}}
}

// collectionFilter narrows a list to a collection. selectCollected applies it, because it must
// look up the collection.
func collectionFilter() resource.Filter {
	return resource.Filter{
		Param: resource.Param{Name: "collection_id", Doc: "Id or slug of a collection"},
		Apply: func(*resource.Call, string, *resource.Query) error { return nil },
	}
}

func selectCollected(ctx context.Context, c *resource.Call, q *resource.Query) error {
	name := c.Query("collection_id")
	if name == "" {
		return nil
	}
	r, err := findCollection(ctx, c, c.WorkspaceID, name, "collection_id")
	if err != nil {
		return err
	}
	q.Index = append(q.Index, resource.IndexEntry{Name: entryParent, Value: r.ID})
	return nil
}

// locatePrompt sets the workspace to that of the collection.
func locatePrompt(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Prompt]) error {
	collection, err := findCollection(ctx, c, c.WorkspaceID, c.Sent.Text("collection_id"), "collection_id")
	if err != nil {
		return err
	}
	r.WorkspaceID, r.Value.CollectionID = collection.WorkspaceID, collection.ID
	return nil
}

func viewPrompt(ctx context.Context, c *resource.Call, r resource.Row[prompt.Prompt], detail bool) (promptView, error) {
	v := barePrompt(r)
	if !detail {
		return v, nil
	}
	_, suffix := prompt.Split(c.Path("promptId"))
	version, err := pickVersion(ctx, c, &r, cmp.Or(c.Query("version"), suffix))
	if err != nil {
		return v, err
	}
	return withVersion(v, &r.Value, version), nil
}

func barePrompt(r resource.Row[prompt.Prompt]) promptView {
	return promptView{
		ID: r.ID, Slug: r.Slug, Name: r.Value.Name, CollectionID: r.Value.CollectionID, WorkspaceID: r.WorkspaceID, Model: r.Value.Model,
		Status: r.Status, CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), Object: "prompt",
	}
}

func receivePrompt(_ context.Context, _ *resource.Call, ch *resource.Edit[prompt.Prompt]) (any, error) {
	return promptReceipt{ch.New.ID, ch.New.Slug, ch.New.Value.NewestID, "prompt"}, nil
}

// changedPrompt names the version that an update created, changed or found to be identical.
func changedPrompt(_ context.Context, _ *resource.Call, ch *resource.Edit[prompt.Prompt]) (any, error) {
	p := &ch.New.Value
	switch {
	case p.Draft != nil && p.Draft.Number != p.Newest:
		return promptDone{ch.New.ID, ch.New.Slug, p.DefaultID, "prompt"}, nil
	case p.Draft != nil || jsonfield.SentAny(ch.Sent, promptContents):
		return promptDone{ch.New.ID, ch.New.Slug, p.NewestID, "prompt"}, nil
	}
	return promptDone{}, nil
}
