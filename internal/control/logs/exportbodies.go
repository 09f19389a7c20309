package logs

import (
	"cmp"
	"context"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
)

// exportIn is the body of a creation.
type exportIn struct {
	jsonfield.OwnerIn
	Filters     exportFiltersIn `json:"filters" doc:"Filters that must all match; {} selects everything"`
	Fields      []exportField   `json:"requested_data" nullable:"false" minItems:"1" maxItems:"50"`
	Description *string         `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Format      string          `json:"format,omitempty" enum:"jsonl,parquet" doc:"File format; jsonl when absent: one object per line"`
	Compression string          `json:"compression,omitempty" enum:"none,gzip,zstd" doc:"Compression; none when absent. JSON lines: the complete file; Parquet: its pages"`
}

// exportPatch is the body of an update: the filters replace the present ones.
type exportPatch struct {
	Filters     exportFiltersIn `json:"filters"`
	Fields      []exportField   `json:"requested_data,omitempty" nullable:"false" minItems:"1" maxItems:"50"`
	Description *string         `json:"description,omitempty" nullable:"true" maxLength:"500"`
	Format      string          `json:"format,omitempty" enum:"jsonl,parquet"`
	Compression string          `json:"compression,omitempty" enum:"none,gzip,zstd"`
	WorkspaceID string          `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// exportField is the name of a field of a row, or an alias of one.
type exportField string

// Schema describes exportField.
func (exportField) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range append(append([]string{}, record.ExportFields...), record.ExportFieldAliases()...) {
		s.Enum = append(s.Enum, name)
	}
	s.PrecomputeMessages()
	return s
}

// exportFiltersIn lists the filters. record.ReadExportFilters defines their meaning and further
// rules.
type exportFiltersIn struct {
	From        *string           `json:"time_of_generation_min,omitempty" nullable:"true" format:"date-time" doc:"Start of the range, inclusive"`
	To          *string           `json:"time_of_generation_max,omitempty" nullable:"true" format:"date-time" doc:"End of the range, exclusive"`
	TotalMin    *int64            `json:"total_units_min,omitempty" nullable:"true" minimum:"0"`
	TotalMax    *int64            `json:"total_units_max,omitempty" nullable:"true" minimum:"0"`
	CostMin     *float64          `json:"cost_min,omitempty" nullable:"true" minimum:"0" doc:"Minimum cost in US cents"`
	CostMax     *float64          `json:"cost_max,omitempty" nullable:"true" minimum:"0"`
	Models      commaText         `json:"ai_model,omitempty"`
	Providers   commaText         `json:"ai_org,omitempty"`
	InputMin    *int64            `json:"prompt_token_min,omitempty" nullable:"true" minimum:"0"`
	InputMax    *int64            `json:"prompt_token_max,omitempty" nullable:"true" minimum:"0"`
	OutputMin   *int64            `json:"completion_token_min,omitempty" nullable:"true" minimum:"0"`
	OutputMax   *int64            `json:"completion_token_max,omitempty" nullable:"true" minimum:"0"`
	Statuses    commaText         `json:"status_code,omitempty" doc:"200, 4xx, 500-503"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"Pairs that must all match"`
	Pairs       commaText         `json:"ai_org_model,omitempty" doc:"Provider and model, joined as provider__model"`
	WeightedMin *float64          `json:"weighted_feedback_min,omitempty" nullable:"true" minimum:"-10" maximum:"10"`
	WeightedMax *float64          `json:"weighted_feedback_max,omitempty" nullable:"true" minimum:"-10" maximum:"10"`
	VirtualKeys commaText         `json:"virtual_keys,omitempty" doc:"Slugs of saved providers"`
	TraceIDs    commaText         `json:"trace_id,omitempty"`
	Configs     commaText         `json:"configs,omitempty" doc:"Slugs of configs"`
	Workspace   *string           `json:"workspace_slug,omitempty" nullable:"true" doc:"Workspace of the export"`
	PromptSlugs commaText         `json:"prompt_slug,omitempty"`
	PageSize    *int              `json:"page_size,omitempty" nullable:"true" minimum:"1" maximum:"50000" doc:"Number of exported rows; 50000 when absent"`
	CurrentPage *int              `json:"current_page,omitempty" nullable:"true" minimum:"0" maximum:"100000"`

	CreatedAt      *exportRange `json:"created_at,omitempty" doc:"Alias of time_of_generation_min and _max"`
	Provider       commaText    `json:"ai_provider,omitempty" doc:"Alias of ai_org"`
	RequestTokens  *exportRange `json:"request_tokens,omitempty" doc:"Alias of prompt_token_min and _max"`
	ResponseTokens *exportRange `json:"response_tokens,omitempty" doc:"Alias of completion_token_min and _max"`
	TotalTokens    *exportRange `json:"total_tokens,omitempty" doc:"Alias of total_units_min and _max"`
	Cost           *exportRange `json:"cost,omitempty" doc:"Alias of cost_min and _max"`
}

// exportRange contains both ends of a range, inclusive.
type exportRange struct {
	Min any `json:"gte,omitempty"`
	Max any `json:"lte,omitempty"`
}

// commaText is a string with commas, or a list.
type commaText struct{}

// Schema describes commaText.
func (commaText) Schema(huma.Registry) *huma.Schema {
	longest, maxItems := 4096, 200
	text := &huma.Schema{Type: huma.TypeString, MaxLength: &longest}
	text.PrecomputeMessages()
	entry := &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeInteger}}}
	list := &huma.Schema{Type: huma.TypeArray, Items: entry, MaxItems: &maxItems}
	list.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{text, list}}
}

// exportReceipt is the response to a creation and to a change.
type exportReceipt struct {
	ID     string `json:"id" format:"uuid"`
	Total  int64  `json:"total" doc:"Number of matching rows now, on all pages"`
	Object string `json:"object" enum:"export"`
}

type exportTask struct {
	Message string `json:"message"`
	Object  string `json:"object" enum:"export"`
}

type exportFile struct {
	SignedURL string `json:"signed_url" format:"uri"`
}

// exportView is an export as clients see it. Fields that are not in the contract are ours.
// Source: contract/content-and-observability.yaml, LogExport.
type exportView struct {
	ID             string                   `json:"id" format:"uuid"`
	OrganisationID string                   `json:"organisation_id" format:"uuid"`
	WorkspaceID    string                   `json:"workspace_id" format:"uuid"`
	Filters        record.ExportFilters     `json:"filters" doc:"Filters under the names of this API"`
	Fields         []string                 `json:"requested_data" nullable:"false"`
	Format         record.ExportFormat      `json:"format" enum:"jsonl,parquet"`
	Compression    record.ExportCompression `json:"compression" enum:"none,gzip,zstd"`
	Status         record.ExportState       `json:"status" enum:"draft,in_progress,success,failed,stopped"`
	Error          string                   `json:"error,omitempty" doc:"Reason for the failure"`
	RowsWritten    int64                    `json:"rows_written"`
	RowsTotal      *int64                   `json:"rows_total" nullable:"true" doc:"Number of rows in the final file; null until they were counted"`
	FileSize       int64                    `json:"file_size" doc:"Bytes written so far"`
	Node           string                   `json:"node,omitempty" doc:"Gateway that runs the export and stores the file"`
	StartedAt      *resource.Stamp          `json:"started_at" nullable:"true" doc:"Start of the last run; rows that began later are excluded"`
	FinishedAt     *resource.Stamp          `json:"finished_at" nullable:"true"`
	ExpiresAt      *resource.Stamp          `json:"expires_at" nullable:"true" doc:"Time when the file is deleted"`
	Description    string                   `json:"description"`
	CreatedAt      resource.Stamp           `json:"created_at"`
	LastUpdatedAt  resource.Stamp           `json:"last_updated_at"`
	CreatedBy      string                   `json:"created_by" format:"uuid" doc:"Id of the user or of the API key"`
	Object         string                   `json:"object" enum:"export"`
}

func (k exports) viewExport(_ context.Context, _ *resource.Call, r resource.Row[record.Export], _ bool) (exportView, error) {
	e := r.Value
	v := exportView{
		ID: r.ID, OrganisationID: r.OrgID, WorkspaceID: r.WorkspaceID, Filters: e.Filters, Fields: e.Fields, Format: cmp.Or(e.Format, record.ExportJSONL),
		Compression: cmp.Or(e.Compression, record.ExportPlain), Status: e.State, Error: e.Run.Error, RowsWritten: e.Run.Mark.Rows, FileSize: e.Run.Mark.Bytes,
		Node: e.Run.Node, StartedAt: resource.StampOf(&e.Run.Started), FinishedAt: resource.StampOf(&e.Run.Ended), Description: e.Description,
		CreatedAt: resource.Stamp(r.Created), LastUpdatedAt: resource.Stamp(r.Updated), CreatedBy: e.CreatedBy, Object: "export",
	}
	if e.Run.Counted {
		v.RowsTotal = &e.Run.Total
	}
	if e.State == record.ExportDone {
		expires := e.Run.Ended.Add(k.ExportRetention)
		v.ExpiresAt = resource.StampOf(&expires)
	}
	return v, nil
}
