package prompts

import (
	"context"
	"encoding/json"
	"strconv"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// pickVersion returns the version of a prompt that a suffix selects.
func pickVersion(ctx context.Context, c *resource.Call, r *resource.Row[prompt.Prompt], suffix string) (*resource.Row[prompt.Version], error) {
	var failed error
	n := r.Value.Pick(suffix, func(name string) string {
		id, err := labelID(ctx, c, r.WorkspaceID, name)
		failed = err
		return id
	})
	if failed != nil {
		return nil, failed
	}
	return findVersion[prompt.Version](ctx, c.Reader, prompt.VersionKind, r.ID, n)
}

// labelID returns the id of a label by its name, "" if the workspace does not have it.
func labelID(ctx context.Context, c *resource.Call, workspaceID, name string) (string, error) {
	if id := prompt.UniversalID(c.OrgID, name); id != "" {
		return id, nil
	}
	rows, err := c.Reader.List(ctx, resource.Query{
		Kind: prompt.LabelKind, OrgID: c.OrgID, WorkspaceID: workspaceID, Statuses: []string{resource.Active}, Limit: 1,
		Index: []resource.IndexEntry{{Name: entryLabel, Value: workspaceID + "/" + name}},
	})
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].ID, nil
}

// withVersion adds a version to the view of a prompt.
func withVersion(v promptView, p *prompt.Prompt, r *resource.Row[prompt.Version]) promptView {
	ver := &r.Value
	raw := jsonfield.Bit(ver.Raw)
	v.String, v.Parameters, v.Model, v.VirtualKey, v.IsRaw = &ver.String, orEmpty(ver.Parameters), ver.Model, &ver.VirtualKey, &raw
	v.Functions, v.Tools, v.ToolChoice = jsonfield.OrNullDocument(ver.Functions), jsonfield.OrNullDocument(ver.Tools), jsonfield.OrNullDocument(ver.ToolChoice)
	v.TemplateMetadata = orEmpty(ver.Metadata)
	v.Version, v.VersionID, v.VersionStatus = ver.Number, r.ID, r.Status
	v.VersionLabelIDs = p.LabelsOf(ver.Number)
	v.VersionDescription, v.VersionLabelID = jsonfield.Document(jsonfield.Encode(jsonfield.OrNull(ver.Description))), jsonfield.Document(jsonfield.Encode(firstOf(v.VersionLabelIDs)))
	return v
}

func orEmpty(raw []byte) jsonfield.Document {
	if len(raw) == 0 {
		return jsonfield.Document("{}")
	}
	return raw
}

// firstOf returns the first id, nil for an empty list.
func firstOf(ids []string) *string {
	if len(ids) == 0 {
		return nil
	}
	return &ids[0]
}

func listPromptVersions(ctx context.Context, c *resource.Call, r resource.Row[prompt.Prompt]) (any, error) {
	return listedVersions(ctx, c, prompt.VersionKind, r.ID, func(v *prompt.Version) []string { return []string{v.Description, strconv.Itoa(v.Number)} }, func(row *resource.Row[prompt.Version]) promptVersionView {
		v := &row.Value
		labels := r.Value.LabelsOf(v.Number)
		return promptVersionView{
			ID: row.ID, PromptID: r.ID, Template: templateView{v.String, orEmpty(v.Parameters)}, Version: v.Number, Description: jsonfield.OrNull(v.Description),
			LabelID: firstOf(labels), LabelIDs: labels, IsRaw: jsonfield.Bit(v.Raw), IsDefault: v.Number == r.Value.Default,
			CreatedAt: resource.Stamp(row.Created), Status: row.Status, Object: "prompt",
		}
	})
}

// versionByID returns the version of a prompt that the path names.
func versionByID(ctx context.Context, c *resource.Call, promptID string) (*resource.Row[prompt.Version], error) {
	id := c.Path("versionId")
	if !ident.ValidID(id) {
		return nil, fault.New(fault.InvalidParameter, "must be a UUID").WithParam("versionId")
	}
	r, err := resource.FindLive[prompt.Version](ctx, c.Reader, prompt.VersionKind, id)
	if fault.Has(err, fault.NotFound) || err == nil && r.Value.PromptID != promptID {
		return nil, fault.New(fault.NotFound, "the prompt does not have this version").WithParam("versionId")
	}
	return r, err
}

func getPromptVersion(ctx context.Context, c *resource.Call, r resource.Row[prompt.Prompt]) (any, error) {
	version, err := versionByID(ctx, c, r.ID)
	if err != nil {
		return nil, err
	}
	return withVersion(barePrompt(r), &r.Value, version), nil
}

// labelPromptVersion moves a label to a version, or removes all labels from it.
func labelPromptVersion(ctx context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Prompt]) (any, error) {
	version, err := versionByID(ctx, c, ch.New.ID)
	if err != nil {
		return nil, err
	}
	p, id := &ch.New.Value, c.Sent.Text("label_id")
	if id == "" {
		p.Strip(version.Value.Number)
		return resource.Empty{}, nil
	}
	if err := findLabel(ctx, c, ch.New.WorkspaceID, id, "label_id"); err != nil {
		return nil, err
	}
	p.Label(id, version.Value.Number)
	return resource.Empty{}, nil
}

// publishPrompt makes a version the default version.
func publishPrompt(ctx context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[prompt.Prompt]) (any, error) {
	version, err := findVersion[prompt.Version](ctx, c.Reader, prompt.VersionKind, ch.New.ID, sentNumber(c, "version"))
	if err != nil {
		return nil, fault.From(err).WithParam("version")
	}
	ch.New.Value.Publish(version.Value.Number, version.ID)
	ch.New.Value.Model = version.Value.Model
	c.Note("version", version.Value.Number)
	return resource.Empty{}, nil
}

// sentNumber returns a whole number of the body, whose schema was checked.
func sentNumber(c *resource.Call, name string) (n int) {
	_ = json.Unmarshal(c.Sent[name], &n)
	return n
}
