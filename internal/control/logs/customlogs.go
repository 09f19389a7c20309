package logs

import (
	"context"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// Limits of custom logs, for one call and for one entry; all ours.
const (
	maxCustomLogs     = 1000
	maxCustomBytes    = 16 << 20
	maxCustomMetadata = 64   // pairs
	maxCustomValue    = 128  // bytes of a metadata value; source: contract section 3.3
	maxCustomName     = 256  // bytes of ids, names and of a metadata key
	maxCustomURL      = 2048 // bytes
)

// Journal stores records of traffic: *journal.Journal.
type Journal interface {
	// Append returns once the record would survive a crash of the process.
	Append(a *record.Attempt) error
}

// routes returns the route with which callers record calls that did not go through this
// gateway. They are traffic, not administration, and leave no row in the audit trail.
// Source: contract/content-and-observability.md section 3.6.
func (k customLogs) routes() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/logs", ID: "createLogs", Summary: "Record calls that were made outside the gateway", Tag: "Logs",
		Scopes: []access.Scope{access.LogsWrite}, Query: []resource.Param{resource.WorkspaceParam},
		Body: customLogIn{}, Many: maxCustomLogs, MaxBytes: maxCustomBytes, Response: customLogsDone{}, Run: k.addLogs,
	}}
}

// customLogIn is one call. Names in camel case mean the same as names with underscores.
// Source: contract/content-and-observability.yaml, CustomLog.
type customLogIn struct {
	Request  customRequestIn   `json:"request"`
	Response customResponseIn  `json:"response"`
	Metadata map[string]string `json:"metadata,omitempty" doc:"trace_id, span_id, span_name and parent_span_id set the position in a trace; user is _user; the rest is metadata"`
}

type customRequestIn struct {
	URL      string            `json:"url" minLength:"1" maxLength:"2048" doc:"URL; user name, password, query and fragment are not stored"`
	Provider string            `json:"provider,omitempty" maxLength:"256" doc:"Provider, stored as ai_org, for example openai"`
	Method   string            `json:"method,omitempty" maxLength:"16" default:"post"`
	Headers  map[string]string `json:"headers,omitempty" doc:"Headers; only the content type is stored"`
	Body     map[string]any    `json:"body" doc:"Request body; its model becomes ai_model"`
}

type customResponseIn struct {
	Status    int               `json:"status,omitempty" minimum:"100" maximum:"599" default:"200"`
	Headers   map[string]string `json:"headers,omitempty" doc:"Headers; only the content type is stored"`
	Body      map[string]any    `json:"body" doc:"Response body; its usage becomes the usage of the call"`
	Took      int64             `json:"response_time,omitempty" minimum:"0" maximum:"86400000" doc:"Response time in milliseconds"`
	TookCamel int64             `json:"responseTime,omitempty" minimum:"0" maximum:"86400000"`
	TookShort int64             `json:"time,omitempty" minimum:"0" maximum:"86400000" doc:"Alias of response_time"`
	Stream    bool              `json:"streamingMode,omitempty" doc:"Whether the response was streamed"`
	Streamed  bool              `json:"streaming_mode,omitempty"`
}

type customLogsDone struct {
	Status string   `json:"status" enum:"success"`
	IDs    []string `json:"ids" nullable:"false" doc:"Ids of the logs, in the order of the request"`
}

// addLogs stores all entries or none: it parses every entry before it stores the first.
func (k customLogs) addLogs(_ context.Context, c *resource.Call) (any, error) {
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	rows := make([]*record.Attempt, len(c.Items))
	for i, item := range c.Items {
		a, err := k.customLog(c, item)
		if err != nil {
			return nil, inItem(c, i, err)
		}
		rows[i] = a
	}
	out := customLogsDone{Status: "success", IDs: make([]string, len(rows))}
	for i, a := range rows {
		if err := k.Journal.Append(a); err != nil {
			return nil, fault.Newf(fault.Overloaded, "log ingestion is unavailable; %d of %d entries were stored, so resend the rest shortly", i, len(rows)).WithCause(err)
		}
		out.IDs[i] = a.ID
	}
	return out, nil
}
