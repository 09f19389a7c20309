package logs

import (
	"encoding/json"
	"strings"

	"sluice/internal/domain/record"
)

// ExportColumns returns the columns of fields of record.ExportFields, in the order in which they
// are requested. A value that the row does not have is null.
// Source: contract/content-and-observability.yaml, enums.log_export_field.
func ExportColumns(fields []string) []record.ExportColumn {
	columns := make([]record.ExportColumn, 0, len(fields))
	for _, name := range fields {
		if c, ok := exportColumns[name]; ok {
			c.Name = name
			columns = append(columns, c)
		}
	}
	return columns
}

// exportColumns has an entry for every field. Units are those of GET /logs: US cents,
// milliseconds, tokens.
var exportColumns = map[string]record.ExportColumn{
	"id":                   textColumn(func(a *record.Attempt) string { return a.ID }),
	"trace_id":             textColumn(func(a *record.Attempt) string { return a.TraceID }),
	"created_at":           {Type: record.ExportTime, Value: func(a *record.Attempt) any { return a.Started }},
	"request":              {Type: record.ExportJSON, Bodies: true, Value: requestCell},
	"response":             {Type: record.ExportJSON, Bodies: true, Value: responseCell},
	"is_success":           {Type: record.ExportFlag, Value: func(a *record.Attempt) any { return a.Status >= 200 && a.Status <= 299 }},
	"ai_org":               textColumn(func(a *record.Attempt) string { return a.Provider }),
	"ai_model":             textColumn(func(a *record.Attempt) string { return a.Model }),
	"req_units":            countColumn(func(a *record.Attempt) int64 { return a.Usage.InputTokens }),
	"res_units":            countColumn(func(a *record.Attempt) int64 { return a.Usage.OutputTokens }),
	"total_units":          countColumn((*record.Attempt).Tokens),
	"request_url":          textColumn(func(a *record.Attempt) string { return a.Path }),
	"cost":                 {Type: record.ExportAmount, Value: costCell},
	"cost_currency":        textColumn(func(*record.Attempt) string { return "USD" }),
	"response_time":        countColumn(func(a *record.Attempt) int64 { return a.Duration.Milliseconds() }),
	"response_status_code": countColumn(func(a *record.Attempt) int64 { return int64(a.Status) }),
	"mode":                 textColumn(modeOf),
	"config":               textColumn(func(a *record.Attempt) string { return a.ConfigID }),
	"prompt_slug":          textColumn(func(a *record.Attempt) string { return a.PromptSlug }),
	"metadata":             {Type: record.ExportJSON, Value: metadataCell},
}

func textColumn(value func(*record.Attempt) string) record.ExportColumn {
	return record.ExportColumn{Type: record.ExportText, Value: func(a *record.Attempt) any {
		if v := value(a); v != "" {
			return v
		}
		return nil
	}}
}

func countColumn(value func(*record.Attempt) int64) record.ExportColumn {
	return record.ExportColumn{Type: record.ExportCount, Value: func(a *record.Attempt) any { return value(a) }}
}

// costCell is null if there is no price.
func costCell(a *record.Attempt) any {
	if nano, known := a.Cost(); known {
		return cents(nano)
	}
	return nil
}

// modeOf returns the strategy that chose the target, as far as the log shows it: "single" if
// there was one target.
func modeOf(a *record.Attempt) string {
	if a.TargetPath == "" || strings.Contains(a.TargetPath, "targets[") {
		return ""
	}
	return "single"
}

func metadataCell(a *record.Attempt) any {
	if len(a.Metadata) == 0 {
		return nil
	}
	return cell(a.Metadata)
}

// requestCell and responseCell show bodies as GET /logs/{logId} does; null if bodies were not
// stored or have been deleted.
func requestCell(a *record.Attempt) any {
	if len(a.Request.Bytes) == 0 {
		return nil
	}
	return cell(objectOf(a, "").Request)
}

func responseCell(a *record.Attempt) any {
	if len(a.Response.Bytes) == 0 {
		return nil
	}
	return cell(objectOf(a, "").Response)
}

// cell returns a value as JSON. The values of rows can always be encoded.
func cell(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return json.RawMessage(b)
}
