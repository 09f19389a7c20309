package upstreams

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/control/resource/listing"
	"sluice/internal/domain/mcp"
)

// capabilitiesIn switches capabilities on and off.
// Source: contract/content-and-observability.yaml, CapabilityUpdate.
type capabilitiesIn struct {
	Capabilities []capabilityIn `json:"capabilities" nullable:"false" minItems:"1" maxItems:"1000"`
}

type capabilityIn struct {
	Name    string `json:"name" minLength:"1" maxLength:"1024"`
	Type    string `json:"type" enum:"tool,prompt,resource,resource_template"`
	Enabled bool   `json:"enabled" doc:"Whether it is enabled; anything not disabled is enabled, and it may be disabled before it is discovered"`
}

// capabilityView is a capability as clients see it.
// Source: contract/content-and-observability.yaml, McpCapability.
type capabilityView struct {
	Name               string          `json:"name"`
	Type               string          `json:"type" enum:"tool,prompt,resource,resource_template"`
	Title              *string         `json:"title" nullable:"true"`
	Description        *string         `json:"description" nullable:"true"`
	Icons              listOrNull      `json:"icons"`
	Enabled            bool            `json:"enabled" doc:"Servers: state in the workspace. Users: state in the workspace and at the integration"`
	IntegrationEnabled *bool           `json:"integration_enabled,omitempty" doc:"State at the integration of a server; for keys without a user"`
	CreatedAt          *resource.Stamp `json:"created_at,omitempty"`
	LastUpdatedAt      *resource.Stamp `json:"last_updated_at,omitempty"`
	InputSchema        objectOrNull    `json:"input_schema"`
	OutputSchema       objectOrNull    `json:"output_schema"`
	Execution          objectOrNull    `json:"execution"`
	Annotations        objectOrNull    `json:"annotations"`
	Arguments          listOrNull      `json:"arguments"`
	URI                *string         `json:"uri" nullable:"true"`
	URITemplate        *string         `json:"uri_template" nullable:"true"`
	MIMEType           *string         `json:"mime_type" nullable:"true"`
	Size               *float64        `json:"size" nullable:"true"`
}

type capabilityList struct {
	resource.MoreOf[capabilityView]
	Counts capabilityCounts `json:"counts" doc:"Counts of all types, regardless of the filter"`
}

type capabilityCounts struct {
	Tools     capabilityCount `json:"tools"`
	Prompts   capabilityCount `json:"prompts"`
	Resources capabilityCount `json:"resources"`
	Templates capabilityCount `json:"resource_templates"`
}

type capabilityCount struct {
	Total   int `json:"total"`
	Enabled int `json:"enabled"`
}

func (n *capabilityCounts) forType(t mcp.CapabilityType) *capabilityCount {
	return map[mcp.CapabilityType]*capabilityCount{mcp.Tool: &n.Tools, mcp.Prompt: &n.Prompts, mcp.Resource: &n.Resources, mcp.ResourceTemplate: &n.Templates}[t]
}

func capabilityQuery() []resource.Param {
	types := jsonfield.Convert(mcp.CapabilityTypes(), func(t mcp.CapabilityType) string { return string(t) })
	return slices.Concat(pagesFrom1(), listing.SearchParams("part of the name or title"), []resource.Param{{Name: "type", Enum: types}})
}

func (k mcpServers) mcpIntegrationCapabilities() []resource.Action[mcp.Integration] {
	return []resource.Action[mcp.Integration]{
		{
			Name: "read", Method: http.MethodGet, Path: "/capabilities", ID: "listMcpIntegrationCapabilities", Summary: "List the tools, prompts and resources of an upstream server",
			Query: capabilityQuery(), Response: capabilityList{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[mcp.Integration]) (any, error) {
				found, err := readFound(ctx, c.Reader, r.ID)
				if err != nil {
					return nil, err
				}
				return listCapabilities(c, mcp.Listed(found.Capabilities, r.Value.Off), func(one mcp.Capability, v *capabilityView) bool {
					v.Enabled = !r.Value.Off.Has(one.Type, one.Name)
					if one.Created != 0 {
						created, updated := jsonfield.FromMillis(one.Created), jsonfield.FromMillis(one.Updated)
						v.CreatedAt, v.LastUpdatedAt = resource.StampOf(&created), resource.StampOf(&updated)
					}
					return v.Enabled
				})
			},
		},
		{
			Name: "switch", Scope: "update", Method: http.MethodPut, Path: "/capabilities", ID: "updateMcpIntegrationCapabilities",
			Summary: "Enable or disable capabilities for all workspaces", Body: capabilitiesIn{}, Response: doneView{},
			Run: func(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[mcp.Integration]) (any, error) {
				return switchCapabilities(c, &ch.New.Value.Off)
			},
		},
	}
}

func (k mcpServers) mcpServerCapabilities() []resource.Action[mcp.Server] {
	return []resource.Action[mcp.Server]{
		{
			Name: "read", Method: http.MethodGet, Path: "/capabilities", ID: "listMcpServerCapabilities", Summary: "List the tools, prompts and resources of a server",
			Query: capabilityQuery(), Response: capabilityList{}, Read: k.listServerCapabilities,
		},
		{
			Name: "switch", Scope: "update", Method: http.MethodPut, Path: "/capabilities", ID: "updateMcpServerCapabilities",
			Summary: "Enable or disable capabilities in the workspace", Body: capabilitiesIn{}, Response: doneView{},
			Run: func(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[mcp.Server]) (any, error) {
				return switchCapabilities(c, &ch.New.Value.Off)
			},
		},
	}
}

func (k mcpServers) listServerCapabilities(ctx context.Context, c *resource.Call, r resource.Row[mcp.Server]) (any, error) {
	integration, found, err := k.findServerDiscovery(ctx, c.Reader, &r.Value)
	if err != nil {
		return nil, err
	}
	return listCapabilities(c, mcp.Listed(found.Capabilities, integration.Value.Off, r.Value.Off), func(one mcp.Capability, v *capabilityView) bool {
		v.Enabled, v.IntegrationEnabled = switchesShown(c, !integration.Value.Off.Has(one.Type, one.Name), !r.Value.Off.Has(one.Type, one.Name))
		return mcp.Enabled(&integration.Value, &r.Value, one.Type, one.Name)
	})
}

// listCapabilities shows a page of capabilities; show reports whether one may be used.
func listCapabilities(c *resource.Call, all []mcp.Capability, show func(mcp.Capability, *capabilityView) bool) (out capabilityList, err error) {
	text, err := listing.SearchText(c)
	if err != nil {
		return out, err
	}
	views := make([]capabilityView, 0, len(all))
	for _, one := range all {
		v := viewCapability(one)
		n := out.Counts.forType(one.Type)
		if n.Total++; show(one, &v) {
			n.Enabled++
		}
		if t := c.Query("type"); (t == "" || t == v.Type) && listing.HasText(text, v.Name, textOf(v.Title)) {
			views = append(views, v)
		}
	}
	out.MoreOf = pageOf(c, views)
	return out, nil
}

// textOf returns a string that may be null; null is "".
func textOf(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

// viewCapability reads the fields of the view from a server's description.
func viewCapability(one mcp.Capability) capabilityView {
	var d struct {
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		Icons        json.RawMessage `json:"icons"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
		Execution    json.RawMessage `json:"execution"`
		Annotations  json.RawMessage `json:"annotations"`
		Arguments    json.RawMessage `json:"arguments"`
		URI          string          `json:"uri"`
		URITemplate  string          `json:"uriTemplate"`
		MIMEType     string          `json:"mimeType"`
		Size         *float64        `json:"size"`
	}
	_ = json.Unmarshal(one.Definition, &d) // fields that do not fit are shown as null
	return capabilityView{
		Name: one.Name, Type: string(one.Type), Title: jsonfield.OrNull(d.Title), Description: jsonfield.OrNull(d.Description), Icons: listOrNull(limitJSON(d.Icons, '[')),
		InputSchema: objectOrNull(limitJSON(d.InputSchema, '{')), OutputSchema: objectOrNull(limitJSON(d.OutputSchema, '{')),
		Execution: objectOrNull(limitJSON(d.Execution, '{')), Annotations: objectOrNull(limitJSON(d.Annotations, '{')), Arguments: listOrNull(limitJSON(d.Arguments, '[')),
		URI: jsonfield.OrNull(d.URI), URITemplate: jsonfield.OrNull(d.URITemplate), MIMEType: jsonfield.OrNull(d.MIMEType), Size: d.Size,
	}
}

func switchCapabilities(c *resource.Call, off *mcp.Switches) (any, error) {
	var sent []capabilityIn
	if err := c.Sent.Into("capabilities", &sent); err != nil {
		return nil, err
	}
	next := *off
	for _, s := range sent {
		next = next.Set(mcp.CapabilityType(s.Type), s.Name, s.Enabled)
	}
	*off = next
	return doneView{true}, next.Check()
}
