package prompts

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/prompt"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// rendering shows the result of rendering a prompt, without calling a model. It is not an
// operation of the kind, because its body may contain anything and it changes nothing. It is
// neither logged nor counted.
// Source: contract/content-and-observability.md 1.5.
func rendering() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/prompts/{promptId}/render", ID: "renderPrompt", Summary: "Fill in a prompt, without calling a model", Tag: "Prompts",
		Params: []resource.Param{{Name: "promptId", Doc: "Slug or id of the prompt, optionally followed by @number, @latest or @label"}},
		Scopes: []access.Scope{access.PromptsRender}, Body: renderIn{}, Response: renderView{}, Run: renderPrompt,
	}}
}

// renderIn is the body of a rendering: that of a call.
type renderIn struct {
	_         struct{}       `additionalProperties:"true"`
	Variables map[string]any `json:"variables" doc:"Values by name; further fields replace saved ones"`
}

type renderView struct {
	Success bool               `json:"success"`
	Data    jsonfield.Document `json:"data" doc:"Body of a call of chat/completions or completions"`
}

func renderPrompt(ctx context.Context, c *resource.Call) (any, error) {
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	name, suffix := prompt.Split(c.Path("promptId"))
	rec, err := resource.FindByName(ctx, c.Reader, prompt.Kind, resource.TargetOf(c, c.WorkspaceID), name)
	if fault.Has(err, fault.NotFound) || err == nil && (rec.Status == resource.Archived || rec.WorkspaceID != c.WorkspaceID) {
		return nil, fault.New(fault.NotFound, "the prompt does not exist").WithParam("promptId")
	}
	if err != nil {
		return nil, err
	}
	row, err := resource.Decode[prompt.Prompt](rec)
	if err != nil {
		return nil, err
	}
	version, err := pickVersion(ctx, c, row, suffix)
	if err != nil {
		return nil, fault.From(err).WithParam("promptId")
	}
	compiled, err := version.Value.Compile()
	if err != nil {
		return nil, err
	}
	sent := resource.Sent{}
	for field, raw := range c.Sent {
		if !slices.Contains([]string{"workspace_id", "organisation_id"}, field) {
			sent[field] = raw
		}
	}
	call, err := prompt.ReadCall(jsonfield.Encode(sent))
	if err != nil {
		return nil, err
	}
	body, err := compiled.Body(call, partialsOf(ctx, c, rec.WorkspaceID))
	if err != nil {
		return nil, err
	}
	return renderView{true, body.JSON}, nil
}
