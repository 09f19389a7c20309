package record

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/kernel/fault"
)

// ExportKind is the kind of the stored records of log exports.
const ExportKind = "log_export"

// ExportState is the progress of an export.
// Source: contract/content-and-observability.yaml, enums.log_export_status.
type ExportState string

// These are the states. A draft may be changed and started. A failed export may be started
// again. A stopped or completed one is final.
// Source: contract/content-and-observability.md section 8.
const (
	ExportDraft   ExportState = "draft"
	ExportRunning ExportState = "in_progress"
	ExportDone    ExportState = "success"
	ExportFailed  ExportState = "failed"
	ExportStopped ExportState = "stopped"
)

// These limit an export. Source: contract/content-and-observability.md section 8.
const (
	MaxExportRows = 50_000
	maxExportPage = 100_000
	maxExportText = 500 // bytes of the description
)

// Export is a request for rows of the log: which rows, and which of their fields. Once
// started, it also contains the progress of its run.
type Export struct {
	Filters     ExportFilters     `json:"filters"`
	Fields      []string          `json:"requested_data"` // of ExportFields, each once
	Format      ExportFormat      `json:"format,omitempty"`
	Compression ExportCompression `json:"compression,omitempty"`
	Description string            `json:"description,omitempty"`
	State       ExportState       `json:"state"`
	CreatedBy   string            `json:"created_by"`        // user or key
	UserID      string            `json:"user_id,omitempty"` // owner of the key or session that created it
	Run         ExportRun         `json:"run"`
}

// Validate rejects, with fault.InvalidParameter for the field, what cannot be exported. It
// replaces other names of fields with those of the contract.
func (e *Export) Validate() error {
	fields := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		f = ExportFieldName(f)
		if !slices.Contains(ExportFields, f) {
			return fault.New(fault.InvalidParameter, "must contain only these fields: "+strings.Join(ExportFields, ", ")).WithParam("requested_data")
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	switch {
	case len(fields) == 0:
		return fault.New(fault.InvalidParameter, "must have at least one field").WithParam("requested_data")
	case len(e.Description) > maxExportText:
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxExportText).WithParam("description")
	}
	e.Fields = fields
	if err := e.validateFile(); err != nil {
		return err
	}
	return e.Filters.Validate()
}

// validateFile checks the format of the file, and fills in defaults.
func (e *Export) validateFile() error {
	e.Format, e.Compression = cmp.Or(e.Format, ExportJSONL), cmp.Or(e.Compression, ExportPlain)
	switch {
	case e.Format != ExportJSONL && e.Format != ExportParquet:
		return fault.New(fault.InvalidParameter, "must be jsonl or parquet").WithParam("format")
	case e.Compression != ExportPlain && e.Compression != ExportGzip && e.Compression != ExportZstd:
		return fault.New(fault.InvalidParameter, "must be none, gzip or zstd").WithParam("compression")
	}
	return nil
}

// ExportFields are the fields that a row of an export may have.
// Source: contract/content-and-observability.yaml, enums.log_export_field.
var ExportFields = []string{
	"id", "trace_id", "created_at", "request", "response", "is_success", "ai_org", "ai_model", "req_units", "res_units", "total_units",
	"request_url", "cost", "cost_currency", "response_time", "response_status_code", "mode", "config", "prompt_slug", "metadata",
}

// ExportFieldAliases returns the other names of ExportFields, in order.
func ExportFieldAliases() []string {
	names := make([]string, 0, len(exportFieldNames))
	for name := range exportFieldNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ExportFieldName returns the name in ExportFields for a name that may be an alias.
func ExportFieldName(name string) string { return cmp.Or(exportFieldNames[name], name) }

var exportFieldNames = map[string]string{
	"ai_provider": "ai_org", "request_tokens": "req_units", "response_tokens": "res_units", "total_tokens": "total_units", "status_code": "response_status_code",
}
