package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/replay"
	"sluice/internal/kernel/access"
	"sluice/internal/limits/tokens"
)

// routes returns the route that runs a logged request again. With the key of the call it leaves no row in the audit
// trail: the log has one, marked as a replay. If a user lets another key pay, the trail records
// it as a use of that key. The trail also records rejected calls.
func (k replayer) routes() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/logs/{logId}/replay", ID: "replayLog", Tag: "Logs",
		Summary: "Replay a logged request, unchanged or with another model, provider, config or prompt, and compare the responses",
		Params:  []resource.Param{{Name: "logId", Doc: "id of the attempt", Format: "uuid"}},
		Scopes:  []access.Scope{access.LogsView}, Body: replayIn{}, Optional: true, Response: replayView{}, Run: k.replayLog,
		Audited: "api_keys", Action: "manage",
	}}
}

type replayIn struct {
	WorkspaceID string       `json:"workspace_id,omitempty" doc:"Workspace of the log; workspace keys imply their own"`
	APIKeyID    string       `json:"api_key_id,omitempty" maxLength:"36" doc:"Session: the key that pays, one of your own user keys or a service key you can edit. Other callers: the key that is sent pays"`
	Model       string       `json:"model,omitempty" maxLength:"256" doc:"Replacement model, for example gpt-4o or @slug/gpt-4o"`
	Provider    string       `json:"provider,omitempty" maxLength:"256" doc:"Replacement provider as @slug of a saved provider; not together with config"`
	Config      replayConfig `json:"config,omitempty" doc:"Replacement config: slug or id of a saved config, or a config itself"`
	Prompt      string       `json:"prompt,omitempty" maxLength:"256" doc:"Replacement prompt for a prompt run: slug or id, optionally followed by @number, @latest or @label"`
}

// replayConfig is the name of a config, or a config.
type replayConfig struct{}

// Schema describes replayConfig.
func (replayConfig) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeObject, AdditionalProperties: true}}}
}

// replayView contains both responses and their differences.
type replayView struct {
	Object      string             `json:"object" enum:"log.replay"`
	Original    replaySide         `json:"original"`
	Replay      replaySide         `json:"replay" doc:"Replay whose cost was charged to the budgets of the API key"`
	Differences []replayDifference `json:"differences" nullable:"false" doc:"Paths where the JSON responses differ, ignoring ids and times; at most 100"`
	More        bool               `json:"more_differences,omitempty" doc:"Whether there are further differences"`
	Comparable  bool               `json:"comparable" doc:"Whether both responses are JSON objects that were stored completely; otherwise only the texts can be compared"`
}

// replaySide is one of the two responses.
type replaySide struct {
	LogID         string         `json:"log_id" format:"uuid"`
	Status        int32          `json:"status"`
	Outcome       record.Outcome `json:"outcome"`
	Error         string         `json:"error,omitempty"`
	AIOrg         string         `json:"ai_org"`
	VirtualKey    string         `json:"virtual_key" doc:"Slug of the saved provider"`
	AIModel       string         `json:"ai_model"`
	ResponseModel string         `json:"reply_model" doc:"Model named in the response"`
	Config        string         `json:"config"`
	Text          string         `json:"text" doc:"Text of the response; empty when it does not contain text"`
	Body          any            `json:"body,omitempty" doc:"JSON, or text; absent when it was not stored"`
	Truncated     bool           `json:"truncated,omitempty" doc:"Whether the stored value was truncated"`
	Cost          *float64       `json:"cost" nullable:"true" doc:"US cents; null when unknown"`
	ReqUnits      int64          `json:"req_units"`
	ResUnits      int64          `json:"res_units"`
	TotalUnits    int64          `json:"total_units"`
	ResponseTime  int64          `json:"response_time" doc:"Response time in milliseconds"`
	FirstByte     int64          `json:"time_to_first_byte" doc:"Time to the first byte in milliseconds"`
	Stream        bool           `json:"stream" doc:"Whether the response was streamed; a replay is never streamed"`
}

type replayDifference struct {
	Path     string `json:"path" doc:"$.choices[0].message.content"`
	Original any    `json:"original,omitempty" doc:"Absent when only the replay has the value; long values are cut"`
	Replay   any    `json:"replay,omitempty" doc:"Absent when only the original has the value"`
}

func (k replayer) replayLog(ctx context.Context, c *resource.Call) (any, error) {
	if err := mayReplay(c); err != nil {
		return nil, err
	}
	a, err := attempts(k).findLog(ctx, c)
	if err != nil {
		return nil, err
	}
	call, err := replay.NewCall(&a, replay.Change{Model: c.Sent.Text("model"), Provider: c.Sent.Text("provider"), Config: configSent(c.Sent), Prompt: c.Sent.Text("prompt")})
	if err != nil {
		return nil, err
	}
	key, err := k.replayKey(ctx, c, &a)
	if err != nil {
		return nil, err
	}
	got, err := k.Replay(c.Request(), key, c.Remote(), call)
	if err != nil {
		return nil, err
	}
	return compared(&a, got), nil
}

// configSent returns the config's name, or its text.
func configSent(s resource.Sent) string {
	if raw := bytes.TrimSpace(s["config"]); len(raw) > 0 && raw[0] == '{' {
		var line bytes.Buffer
		if json.Compact(&line, raw) == nil { // the text is sent in a header
			return line.String()
		}
	}
	return s.Text("config")
}

func compared(a *record.Attempt, got *replay.Outcome) replayView {
	before := clientsOf(&a.ClientResponse, &a.Response)
	if a.Named {
		before.Bytes = naming(before.Bytes, a.Provider)
	}
	after := record.Body{Type: got.Type, Bytes: got.Body, Size: int64(len(got.Body)), Truncated: got.Cut}
	v := replayView{Object: "log.replay", Original: replaySideOf(a, &before), Replay: replaySideOf(&got.Record, &after), Differences: []replayDifference{}}
	v.Replay.Status = int32(got.Status)
	if before.Truncated || after.Truncated {
		return v
	}
	list, more, ok := replay.Differences(before.Plain(maxShown), got.Body)
	v.More, v.Comparable = more, ok
	for _, d := range list {
		v.Differences = append(v.Differences, replayDifference{d.Path, shownOrNone(d.Original), shownOrNone(d.Replay)})
	}
	return v
}

// shownOrNone returns nil for a nil value, so that it is not shown as null.
func shownOrNone(v json.RawMessage) any {
	if v == nil {
		return nil
	}
	return v
}

func replaySideOf(a *record.Attempt, body *record.Body) replaySide {
	s := replaySide{
		LogID: a.ID, Status: a.Status, Outcome: a.Outcome, Error: a.Error, AIOrg: a.Provider, VirtualKey: a.ProviderID, AIModel: a.Model, ResponseModel: a.ResponseModel,
		Config: a.ConfigID, Body: readable(*body), Truncated: body.Truncated, ReqUnits: a.Usage.InputTokens, ResUnits: a.Usage.OutputTokens, TotalUnits: a.Tokens(),
		ResponseTime: a.Duration.Milliseconds(), FirstByte: a.FirstByte.Milliseconds(), Stream: a.Stream, Cost: costOf(a),
	}
	plain := body.Plain(maxShown)
	if s.Text = replay.Text(plain); strings.HasPrefix(body.Type, "text/event-stream") {
		s.Text = tokens.EventText(plain)
	}
	return s
}
