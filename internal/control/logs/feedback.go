package logs

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// maxFeedbacks limits the feedback of one call and the feedback shown for one trace.
const maxFeedbacks = 100

// feedbackScopes let keys that send model traffic rate its results.
// Source: contract/content-and-observability.yaml, POST /feedback; feedbacks.write is in
// the table of scopes.
var feedbackScopes = []access.Scope{"feedbacks.write", access.CompletionsWrite}

// routes returns the routes with which callers rate a trace. They are not a Kind: one call gives
// several, a change replaces a complete feedback, and administrators do not manage them. They
// are traffic data, so they leave no row in the audit trail.
// Source: contract/content-and-observability.md section 4.
func (k feedback) routes() resource.Resource {
	op := resource.Operation{Tag: "Feedback", Scopes: feedbackScopes, Query: []resource.Param{resource.WorkspaceParam}, Response: feedbackDone{}}
	add, put := op, op
	add.Method, add.Path, add.ID, add.Summary = http.MethodPost, "/feedback", "createFeedback", "Give feedback on one or several traces"
	add.Body, add.Many, add.Run = feedbackIn{}, maxFeedbacks, k.addFeedback
	put.Method, put.Path, put.ID, put.Summary = http.MethodPut, "/feedback/{id}", "updateFeedback", "Replace the value, weight and metadata of a feedback record"
	put.Params = []resource.Param{{Name: "id", Doc: "Id of the feedback", Format: "uuid"}}
	put.Body, put.Run = FeedbackPatch{}, k.putFeedback
	return resource.Operations{add, put}
}

// FeedbackPatch contains the fields that can be changed.
type FeedbackPatch struct {
	Value    int              `json:"value" minimum:"-10" maximum:"10"`
	Weight   float64          `json:"weight,omitempty" minimum:"0" maximum:"1" default:"1"`
	Metadata feedbackMetadata `json:"metadata,omitempty" doc:"Object, or its JSON text; at most 8 KiB"`
}

type feedbackIn struct {
	TraceID string `json:"trace_id" minLength:"1" maxLength:"256" doc:"Trace id of the requests; an unknown one is accepted"`
	FeedbackPatch
}

// feedbackMetadata is an object or its JSON text.
type feedbackMetadata struct{}

// Schema describes feedbackMetadata.
func (feedbackMetadata) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeString},
	}}
}

// feedbackDone is the response to both operations.
type feedbackDone struct {
	Status  string   `json:"status" enum:"success"`
	Message string   `json:"message"`
	IDs     []string `json:"feedback_ids" nullable:"false" doc:"Ids, in the order of the request"`
}

// judged reads the sent fields into a feedback.
func judged(s resource.Sent, f *record.Feedback) error {
	f.Value, f.Weight, f.Metadata = 0, 1, s["metadata"]
	if err := s.Into("value", &f.Value); err != nil {
		return err
	}
	if err := s.Into("weight", &f.Weight); err != nil {
		return err
	}
	return f.Validate()
}

// keyOf returns the key of the caller; empty for users and tokens.
func keyOf(c *resource.Call) string {
	if c.Principal.Kind != access.ByKey {
		return ""
	}
	return c.Principal.ID
}

func (k feedback) addFeedback(ctx context.Context, c *resource.Call) (any, error) {
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	out := feedbackDone{Status: "success", Message: "feedback saved", IDs: make([]string, len(c.Items))}
	rows := make([]resource.Record, len(c.Items))
	for i, item := range c.Items {
		f := record.Feedback{TraceID: item.Text("trace_id"), UserID: c.Principal.UserID, KeyID: keyOf(c)}
		if err := judged(item, &f); err != nil {
			return nil, inItem(c, i, err)
		}
		out.IDs[i] = ident.NewID()
		rows[i] = feedbackRecord(c, out.IDs[i], &f)
	}
	err := c.Change(ctx, func(tx resource.Tx) error {
		for _, r := range rows {
			if err := tx.Insert(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// inItem adds the entry of the body to the field of an error.
func inItem(c *resource.Call, i int, err error) error {
	f := fault.From(err)
	return f.WithParam(c.ItemField(i, f.Param))
}

func feedbackRecord(c *resource.Call, id string, f *record.Feedback) resource.Record {
	return resource.Record{
		Kind: record.FeedbackKind, ID: id, OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, Status: resource.Active, Version: 1,
		Created: c.Now, Updated: c.Now, Body: jsonfield.Encode(f), Index: FeedbackIndex(f.TraceID),
	}
}

// FeedbackIndex returns the index entries that find feedback by its trace.
func FeedbackIndex(traceID string) []resource.IndexEntry {
	return []resource.IndexEntry{{Name: "trace", Value: record.TraceEntry(traceID)}}
}

func (k feedback) putFeedback(ctx context.Context, c *resource.Call) (any, error) {
	id := c.Path("id")
	if !ident.ValidID(id) {
		return nil, fault.New(fault.InvalidParameter, "must be a UUID").WithParam("id")
	}
	if err := c.RequireWorkspace(); err != nil {
		return nil, err
	}
	err := c.Change(ctx, func(tx resource.Tx) error {
		r, err := findFeedback(ctx, tx, c, id)
		if err != nil {
			return err
		}
		if err := c.Unchanged(r.Record); err != nil {
			return err
		}
		if err := judged(c.Sent, &r.Value); err != nil {
			return err
		}
		rec := r.Record
		rec.Body, rec.Updated = jsonfield.Encode(&r.Value), c.Now
		return tx.Update(ctx, rec)
	})
	return feedbackDone{Status: "success", Message: "feedback changed", IDs: []string{id}}, err
}

// findFeedback returns a feedback of the workspace. It returns fault.NotFound for any other, and
// for feedback of others if the caller sees only their own data.
func findFeedback(ctx context.Context, from resource.Reader, c *resource.Call, id string) (*resource.Row[record.Feedback], error) {
	missing := fault.New(fault.NotFound, "the feedback does not exist").WithParam("id")
	rec, err := from.Find(ctx, record.FeedbackKind, id)
	if fault.Has(err, fault.NotFound) || err == nil && (rec.OrgID != c.OrgID || rec.WorkspaceID != c.WorkspaceID) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	r, err := resource.Decode[record.Feedback](rec)
	if err == nil && c.Principal.IsLimitedToUserData(rec.WorkspaceID) && r.Value.UserID != c.Principal.UserID {
		return nil, missing
	}
	return r, err
}

// logFeedback is a feedback as the log shows it.
type logFeedback struct {
	ID        string          `json:"id" format:"uuid"`
	Value     int             `json:"value"`
	Weight    float64         `json:"weight"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	CreatedAt resource.Stamp  `json:"created_at"`
}

// feedbackOf returns the feedback for the trace of an attempt, newest first, at most
// maxFeedbacks; nil if there is none.
func feedbackOf(ctx context.Context, from resource.Reader, a *record.Attempt) ([]logFeedback, error) {
	if a.TraceID == "" || len(a.TraceID) > record.MaxTraceID {
		return nil, nil
	}
	rows, err := resource.ListRows[record.Feedback](ctx, from, resource.Query{
		Kind: record.FeedbackKind, OrgID: a.OrgID, WorkspaceID: a.WorkspaceID, Statuses: []string{resource.Active},
		Index: FeedbackIndex(a.TraceID), Newest: true, Limit: maxFeedbacks,
	})
	if err != nil {
		return nil, err
	}
	var out []logFeedback
	for _, r := range rows {
		out = append(out, logFeedback{r.ID, r.Value.Value, r.Value.Weight, r.Value.Metadata, resource.Stamp(r.Created)})
	}
	return out, nil
}
