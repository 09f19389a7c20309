package admin

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/record"
	"sluice/internal/resource"
)

// exportIn is the body of a creation.
type exportIn struct {
	OwnerIn
	Filters     exportFiltersIn `json:"filters" doc:"all of them must match; {} selects everything"`
	Fields      []exportField   `json:"requested_data" nullable:"false" minItems:"1" maxItems:"50"`
	Description *string         `json:"description,omitempty" nullable:"true" maxLength:"500"`
}

// exportPatch is the body of an update: the filters replace those of before.
type exportPatch struct {
	Filters     exportFiltersIn `json:"filters"`
	Fields      []exportField   `json:"requested_data,omitempty" nullable:"false" minItems:"1" maxItems:"50"`
	Description *string         `json:"description,omitempty" nullable:"true" maxLength:"500"`
	WorkspaceID string          `json:"workspace_id,omitempty" doc:"id or slug; for Admin keys"`
}

// exportField is the name of a field of a row, or another name for one.
type exportField string

// Schema describes it.
func (exportField) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range append(append([]string{}, record.ExportFields...), record.ExportFieldAliases()...) {
		s.Enum = append(s.Enum, name)
	}
	s.PrecomputeMessages()
	return s
}

// exportFiltersIn lists the filters. What they mean and their other rules are in
// record.ReadExportFilters.
type exportFiltersIn struct {
	From        *string           `json:"time_of_generation_min,omitempty" nullable:"true" format:"date-time" doc:"inclusive"`
	To          *string           `json:"time_of_generation_max,omitempty" nullable:"true" format:"date-time" doc:"exclusive"`
	TotalMin    *int64            `json:"total_units_min,omitempty" nullable:"true" minimum:"0"`
	TotalMax    *int64            `json:"total_units_max,omitempty" nullable:"true" minimum:"0"`
	CostMin     *float64          `json:"cost_min,omitempty" nullable:"true" minimum:"0" doc:"US cents"`
	CostMax     *float64          `json:"cost_max,omitempty" nullable:"true" minimum:"0"`
	Models      commaText         `json:"ai_model,omitempty"`
	Providers   commaText         `json:"ai_org,omitempty"`
	InputMin    *int64            `json:"prompt_token_min,omitempty" nullable:"true" minimum:"0"`
	InputMax    *int64            `json:"prompt_token_max,omitempty" nullable:"true" minimum:"0"`
	OutputMin   *int64            `json:"completion_token_min,omitempty" nullable:"true" minimum:"0"`
	OutputMax   *int64            `json:"completion_token_max,omitempty" nullable:"true" minimum:"0"`
	Statuses    commaText         `json:"status_code,omitempty" doc:"200, 4xx, 500-503"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"all of them"`
	Pairs       commaText         `json:"ai_org_model,omitempty" doc:"provider__model"`
	WeightedMin *float64          `json:"weighted_feedback_min,omitempty" nullable:"true" minimum:"-10" maximum:"10"`
	WeightedMax *float64          `json:"weighted_feedback_max,omitempty" nullable:"true" minimum:"-10" maximum:"10"`
	VirtualKeys commaText         `json:"virtual_keys,omitempty" doc:"slugs of saved providers"`
	TraceIDs    commaText         `json:"trace_id,omitempty"`
	Configs     commaText         `json:"configs,omitempty" doc:"slugs"`
	Workspace   *string           `json:"workspace_slug,omitempty" nullable:"true" doc:"that of the export"`
	PromptSlugs commaText         `json:"prompt_slug,omitempty"`
	PageSize    *int              `json:"page_size,omitempty" nullable:"true" minimum:"1" maximum:"50000" doc:"rows of one export; 50000 when absent"`
	CurrentPage *int              `json:"current_page,omitempty" nullable:"true" minimum:"0"`

	CreatedAt      *exportRange `json:"created_at,omitempty" doc:"the same as time_of_generation_min and _max"`
	Provider       commaText    `json:"ai_provider,omitempty" doc:"the same as ai_org"`
	RequestTokens  *exportRange `json:"request_tokens,omitempty" doc:"the same as prompt_token_min and _max"`
	ResponseTokens *exportRange `json:"response_tokens,omitempty" doc:"the same as completion_token_min and _max"`
	TotalTokens    *exportRange `json:"total_tokens,omitempty" doc:"the same as total_units_min and _max"`
	Cost           *exportRange `json:"cost,omitempty" doc:"the same as cost_min and _max"`
}

// exportRange are both ends of a range, included.
type exportRange struct {
	Least any `json:"gte,omitempty"`
	Most  any `json:"lte,omitempty"`
}

// commaText is a text with commas, or a list.
type commaText struct{}

// Schema describes it.
func (commaText) Schema(huma.Registry) *huma.Schema {
	longest, most := 4096, 200
	text := &huma.Schema{Type: huma.TypeString, MaxLength: &longest}
	text.PrecomputeMessages()
	entry := &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeInteger}}}
	list := &huma.Schema{Type: huma.TypeArray, Items: entry, MaxItems: &most}
	list.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{text, list}}
}

// exportReceipt is the answer to a creation and to a change.
type exportReceipt struct {
	ID     string `json:"id" format:"uuid"`
	Total  int64  `json:"total" doc:"rows that match now; the filters metadata, cost_*, weighted_feedback_*, trace_id, prompt_slug and ai_org_model do not count yet"`
	Object string `json:"object" enum:"export"`
}

type exportTask struct {
	Message string `json:"message"`
	Object  string `json:"object" enum:"export"`
}

type exportFile struct {
	SignedURL string `json:"signed_url" format:"uri"`
}

// exportView is an export as clients see it.
// Source: contract/content-and-observability.yaml, LogExport.
type exportView struct {
	ID             string               `json:"id" format:"uuid"`
	OrganisationID string               `json:"organisation_id" format:"uuid"`
	WorkspaceID    string               `json:"workspace_id" format:"uuid"`
	Filters        record.ExportFilters `json:"filters" doc:"under the names of this interface"`
	Fields         []string             `json:"requested_data" nullable:"false"`
	Status         record.ExportState   `json:"status" enum:"draft,in_progress,success,failed,stopped"`
	Description    string               `json:"description"`
	CreatedAt      resource.Stamp       `json:"created_at"`
	LastUpdatedAt  resource.Stamp       `json:"last_updated_at"`
	CreatedBy      string               `json:"created_by" format:"uuid" doc:"id of the user or of the API key"`
	Object         string               `json:"object" enum:"export"`
}

func viewExport(_ context.Context, _ *resource.Call, r resource.Row[record.Export], _ bool) (exportView, error) {
	e := r.Value
	return exportView{
		ID: r.ID, OrganisationID: r.OrgID, WorkspaceID: r.WorkspaceID, Filters: e.Filters, Fields: e.Fields, Status: e.State, Description: e.Description,
		CreatedAt: stamp(r.Created), LastUpdatedAt: stamp(r.Updated), CreatedBy: e.CreatedBy, Object: "export",
	}, nil
}
