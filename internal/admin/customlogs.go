package admin

import (
	"context"
	"net/http"

	"sluice/internal/access"
	"sluice/internal/fault"
	"sluice/internal/record"
	"sluice/internal/resource"
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

// Journal is where records of traffic go: *journal.Journal.
type Journal interface {
	// Append returns once the record would survive the death of the process.
	Append(a *record.Attempt) error
}

// customLogs is the route by which callers put calls on record that did not go through
// this gateway. They are traffic, not administration, and leave no row in the audit
// trail. Source: contract/content-and-observability.md section 3.6.
func (k deps) customLogs() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/logs", ID: "createLogs", Summary: "Put calls on record that were made elsewhere", Tag: "Logs",
		Scopes: []access.Scope{access.LogsWrite}, Query: []resource.Param{resource.WorkspaceParam},
		Body: customLogIn{}, Many: maxCustomLogs, MaxBytes: maxCustomBytes, Response: customLogsDone{}, Run: k.addLogs,
	}}
}

// customLogIn is one call. Names in camel case mean the same as those with underscores.
// Source: contract/content-and-observability.yaml, CustomLog.
type customLogIn struct {
	Request  customRequestIn   `json:"request"`
	Response customResponseIn  `json:"response"`
	Metadata map[string]string `json:"metadata,omitempty" doc:"trace_id, span_id, span_name and parent_span_id place it in a trace; user is _user; the rest is metadata"`
}

type customRequestIn struct {
	URL      string            `json:"url" minLength:"1" maxLength:"2048" doc:"name, password, query and fragment are not kept"`
	Provider string            `json:"provider,omitempty" maxLength:"256" doc:"becomes ai_org: openai"`
	Method   string            `json:"method,omitempty" maxLength:"16" default:"post"`
	Headers  map[string]string `json:"headers,omitempty" doc:"only the content type is kept"`
	Body     map[string]any    `json:"body" doc:"its model becomes ai_model"`
}

type customResponseIn struct {
	Status    int               `json:"status,omitempty" minimum:"100" maximum:"599" default:"200"`
	Headers   map[string]string `json:"headers,omitempty" doc:"only the content type is kept"`
	Body      map[string]any    `json:"body" doc:"its usage is what the call used"`
	Took      int64             `json:"response_time,omitempty" minimum:"0" maximum:"86400000" doc:"ms"`
	TookCamel int64             `json:"responseTime,omitempty" minimum:"0" maximum:"86400000"`
	TookShort int64             `json:"time,omitempty" minimum:"0" maximum:"86400000" doc:"the same as response_time"`
	Stream    bool              `json:"streamingMode,omitempty" doc:"whether the response was streamed"`
	Streamed  bool              `json:"streaming_mode,omitempty"`
}

type customLogsDone struct {
	Status string   `json:"status" enum:"success"`
	IDs    []string `json:"ids" nullable:"false" doc:"of the logs, in the order in which they were sent"`
}

// addLogs takes all entries or none: each is read before the first is kept.
func (k deps) addLogs(_ context.Context, c *resource.Call) (any, error) {
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
			return nil, fault.Newf(fault.Overloaded, "the log takes nothing right now; %d of %d entries were kept, so send the rest again shortly", i, len(rows)).WithCause(err)
		}
		out.IDs[i] = a.ID
	}
	return out, nil
}
