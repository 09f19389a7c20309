package logs

import (
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
)

// TelemetryPath is a path to which applications send their own telemetry, below the version.
type TelemetryPath struct {
	Path string // "/otel/v1/traces"
	Logs bool   // log records rather than spans
	id   string
}

// TelemetryPaths returns all of them. Package telemetry/spans serves them.
// Source: contract/content-and-observability.yaml, POST /otel/v1/traces; those of log records
// are ours.
func TelemetryPaths() []TelemetryPath {
	return []TelemetryPath{
		{"/otel/v1/traces", false, "ingestTraces"}, {"/logs/otel/v1/traces", false, "ingestTracesAtLogs"},
		{"/otel", false, "ingestTracesAtRoot"}, {"/logs/otel", false, "ingestTracesAtLogsRoot"},
		{"/otel/v1/logs", true, "ingestLogs"}, {"/logs/otel/v1/logs", true, "ingestLogsAtLogs"},
	}
}

// otlpTypes are the content types of messages and of their responses.
const otlpTypes = "application/json, application/x-protobuf"

// telemetry describes the ingestion of OTLP.
func telemetry() resource.Resource {
	var ops resource.Operations
	for _, p := range TelemetryPaths() {
		summary := "Ingest spans of an application: an ExportTraceServiceRequest, optionally compressed with gzip"
		if p.Logs {
			summary = "Ingest log records of an application: an ExportLogsServiceRequest, optionally compressed with gzip"
		}
		ops = append(ops, resource.Operation{
			Method: http.MethodPost, Path: p.Path, ID: p.id, Summary: summary, Tag: "OpenTelemetry", Scopes: []access.Scope{access.LogsWrite},
			ExternalRoute: true, Takes: otlpTypes, Stream: otlpTypes, Refusal: telemetryRefusal{},
		})
	}
	return ops
}

// telemetryRefusal is the body of an error for a message. It has the fields of errors for model
// traffic, which uses the same port, and the "message" of google.rpc.Status, which OTLP clients
// expect.
// Source: OTLP 1.9, "OTLP/HTTP Response"; contract/dataplane.md part 7.
type telemetryRefusal struct {
	Status  string              `json:"status,omitempty" enum:"failure"`
	Message string              `json:"message,omitempty" doc:"Problem and its location"`
	Param   string              `json:"param,omitempty"`
	Errors  []resource.Problem  `json:"errors,omitempty" nullable:"false"`
	Error   telemetryRefusalFor `json:"error"`
}

type telemetryRefusalFor struct {
	Message   string  `json:"message"`
	Type      string  `json:"type,omitempty"`
	Param     *string `json:"param,omitempty" nullable:"true"`
	Code      *string `json:"code,omitempty" nullable:"true"`
	Retryable bool    `json:"retryable,omitempty" doc:"Whether a retry can succeed"`
}
