package record

import (
	"slices"
	"strings"

	"sluice/internal/fault"
)

// ExportKind names the stored records of log exports.
const ExportKind = "log_export"

// ExportState is how far an export is.
// Source: contract/content-and-observability.yaml, enums.log_export_status.
type ExportState string

// The states. A draft may be changed; what was stopped or failed may be started again.
const (
	ExportDraft   ExportState = "draft"
	ExportRunning ExportState = "in_progress"
	ExportDone    ExportState = "success"
	ExportFailed  ExportState = "failed"
	ExportStopped ExportState = "stopped"
)

// Limits of an export. Source: contract/content-and-observability.md section 8.
const (
	MaxExportRows = 50_000
	maxExportText = 500 // bytes of the description
)

// Export is an order for rows of the log: which of them, and which of their fields.
type Export struct {
	Filters     ExportFilters `json:"filters"`
	Fields      []string      `json:"requested_data"` // of ExportFields, each once
	Description string        `json:"description,omitempty"`
	State       ExportState   `json:"state"`
	CreatedBy   string        `json:"created_by"`        // user or key
	UserID      string        `json:"user_id,omitempty"` // whose key or session made it
}

// Validate refuses, with fault.InvalidParameter naming the field, what cannot be
// exported. It puts the names of the contract in the place of other names for fields.
func (e *Export) Validate() error {
	fields := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		if name, ok := exportFieldNames[f]; ok {
			f = name
		}
		if !slices.Contains(ExportFields, f) {
			return fault.New(fault.InvalidParameter, "the fields are "+strings.Join(ExportFields, ", ")).At("requested_data")
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	switch {
	case len(fields) == 0:
		return fault.New(fault.InvalidParameter, "name at least one field").At("requested_data")
	case len(e.Description) > maxExportText:
		return fault.Newf(fault.InvalidParameter, "the description has at most %d bytes", maxExportText).At("description")
	}
	e.Fields = fields
	return e.Filters.Validate()
}

// ExportFields are the fields that a row of an export may have.
// Source: contract/content-and-observability.yaml, enums.log_export_field.
var ExportFields = []string{
	"id", "trace_id", "created_at", "request", "response", "is_success", "ai_org", "ai_model", "req_units", "res_units", "total_units",
	"request_url", "cost", "cost_currency", "response_time", "response_status_code", "mode", "config", "prompt_slug", "metadata",
}

// ExportFieldAliases are further names that mean one of ExportFields, in order.
func ExportFieldAliases() []string {
	names := make([]string, 0, len(exportFieldNames))
	for name := range exportFieldNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var exportFieldNames = map[string]string{
	"ai_provider": "ai_org", "request_tokens": "req_units", "response_tokens": "res_units", "total_tokens": "total_units", "status_code": "response_status_code",
}
