package logs

import (
	"context"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
)

// maxAttempts limits the attempts of a request that are shown with each of them.
const maxAttempts = 100

// logAttempt is an attempt in the list of attempts of its request.
type logAttempt struct {
	ID             string         `json:"id" format:"uuid"`
	Attempt        int32          `json:"attempt" doc:"Number of the attempt, from 0"`
	CreatedAt      resource.Stamp `json:"created_at"`
	Path           string         `json:"last_used_option_json_path" doc:"Path of the target in the config"`
	AIOrg          string         `json:"ai_org"`
	VirtualKey     string         `json:"virtual_key" doc:"Slug of the saved provider"`
	AIModel        string         `json:"ai_model"`
	StatusCode     int32          `json:"response_status_code"`
	UpstreamStatus int32          `json:"upstream_status_code"`
	Outcome        record.Outcome `json:"outcome"`
	Error          string         `json:"error,omitempty"`
	Retries        int32          `json:"retries" doc:"Retries within the attempt"`
	ResponseTime   int64          `json:"response_time" doc:"Response time in milliseconds"`
	TotalUnits     int64          `json:"total_units"`
	Cost           *float64       `json:"cost" nullable:"true" doc:"US cents; null when unknown"`
}

// attemptsOf returns the attempts of the request that an attempt belongs to. A record without a
// request of this gateway has no other attempts.
func (k attempts) attemptsOf(ctx context.Context, c *resource.Call, a *record.Attempt) ([]logAttempt, error) {
	rows := []record.Attempt{*a}
	if a.RequestID != "" && a.Source.Served() {
		q := record.Query{OrgID: a.OrgID, WorkspaceID: a.WorkspaceID, RequestID: a.RequestID, Limit: maxAttempts}
		if c.Principal.IsLimitedToUserData(a.WorkspaceID) {
			q.UserID = c.Principal.UserID
		}
		page, err := k.Logs.List(ctx, q)
		if err != nil {
			return nil, err
		}
		rows = page.Rows
	}
	out := make([]logAttempt, len(rows))
	for i := range rows {
		out[i] = attemptView(&rows[i])
	}
	return out, nil
}

func attemptView(a *record.Attempt) logAttempt {
	return logAttempt{
		ID: a.ID, Attempt: a.Number, CreatedAt: resource.Stamp(a.Started), Path: jsonPath(a.TargetPath), AIOrg: a.Provider, VirtualKey: a.ProviderID, AIModel: a.Model,
		StatusCode: a.Status, UpstreamStatus: a.Upstream, Outcome: a.Outcome, Error: a.Error, Retries: a.Retries,
		ResponseTime: a.Duration.Milliseconds(), TotalUnits: a.Tokens(), Cost: costOf(a),
	}
}
