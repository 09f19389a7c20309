package configs

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/hookresult"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/trial"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// trialTime is the longest time of a test or dry run.
const trialTime = time.Minute

// tests is the route that runs a guardrail on one text or body. It changes nothing and is ours.
func (k guardrails) tests() resource.Resource {
	return resource.Operations{{
		Method: http.MethodPost, Path: "/guardrails/test", ID: "testGuardrail", Summary: "Run a guardrail on a text, a request or a response", Tag: "Guardrails",
		Feature: "GUARDRAILS_ENABLED", Scopes: []access.Scope{"guardrails.create"}, Query: []resource.Param{resource.WorkspaceParam},
		Body: guardrailTestIn{}, Response: guardrailTestView{}, Run: k.test,
	}}
}

type guardrailTestIn struct {
	TrialIn
	Guardrail string            `json:"guardrail,omitempty" maxLength:"255" doc:"Id or slug of a saved guardrail; absent for the checks alone"`
	Phase     guardrail.Phase   `json:"phase" enum:"input,output"`
	Text      *string           `json:"text,omitempty" maxLength:"262144" doc:"Text of the last message of a chat request, or of a chat response in the output phase; in place of request or response"`
	Request   map[string]any    `json:"request,omitempty" doc:"Request that the input phase judges; in the output phase the request of the response"`
	Response  map[string]any    `json:"response,omitempty" doc:"Response that the output phase judges"`
	Endpoint  llm.Endpoint      `json:"endpoint,omitempty" enum:"chatComplete,complete,messages,createModelResponse,embed,imageGenerate,createSpeech,rerank,moderate" default:"chatComplete" doc:"Endpoint whose format the request or response has"`
	Model     string            `json:"model,omitempty" maxLength:"256" doc:"Model of the call; that of the request when absent"`
	Provider  string            `json:"provider,omitempty" maxLength:"64" doc:"Provider of the call, for example openai"`
	Metadata  map[string]string `json:"metadata,omitempty" doc:"Metadata of the call"`
}

// guardrailTestView is the result of a test.
type guardrailTestView struct {
	Object  string                 `json:"object" enum:"guardrail_test"`
	Status  int                    `json:"status" enum:"200,246,446" doc:"Status that the guardrail gives to such a call"`
	Results hookresult.HookResults `json:"hook_results" doc:"As in the response to a call, with all details"`
	Message string                 `json:"message,omitempty" doc:"Message of a denial, if the guardrail sets one"`
	Text    *string                `json:"text,omitempty" doc:"The text after the changes of the guardrail, if a text was sent"`
	Body    jsonfield.Document     `json:"body" doc:"The judged request or response after the changes of the guardrail"`
	Skipped []string               `json:"skipped_checks" nullable:"false" doc:"Checks that did not run because they cost money"`
}

// test runs a guardrail once.
func (k guardrails) test(ctx context.Context, c *resource.Call) (any, error) {
	var r *resource.Row[guardrail.Guardrail]
	if name := c.Sent.Text("guardrail"); name != "" {
		var err error
		if r, err = k.findTried(ctx, c, name); err != nil {
			return nil, err
		}
	}
	t, err := k.tried(c, r)
	if err != nil {
		return nil, err
	}
	p := guardrail.Phase(c.Sent.Text("phase"))
	if err := k.testable(t, p); err != nil {
		return nil, err
	}
	one, err := readCase(c.Sent, p)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, trialTime)
	defer stop()
	out, err := k.Trials.Prepare(&t.Saved, p, t.enforced)(ctx, one)
	if err != nil {
		return nil, err
	}
	return viewTest(c.Sent, t, p, one, out), nil
}

// readCase returns the case of a body.
func readCase(sent resource.Sent, p guardrail.Phase) (*trial.Case, error) {
	c := &trial.Case{Endpoint: llm.Endpoint(sent.Text("endpoint")), Model: sent.Text("model"), Provider: sent.Text("provider"), Request: sent["request"], Response: sent["response"]}
	if c.Endpoint == "" {
		c.Endpoint = llm.ChatComplete
	}
	if err := sent.Into("metadata", &c.Metadata); err != nil {
		return nil, err
	}
	judged, field := &c.Request, "request"
	if p == guardrail.Output {
		judged, field = &c.Response, "response"
	}
	switch {
	case sent.Has("text") && sent.Has(field):
		return nil, fault.New(fault.InvalidParameter, "send text or "+field+", not both").WithParam("text")
	case sent.Has("text") && c.Endpoint != llm.ChatComplete:
		return nil, fault.New(fault.InvalidParameter, "a text is judged as part of a chat; send "+field+" for another endpoint").WithParam("endpoint")
	case sent.Has("text"):
		*judged = chatWith(sent.Text("text"), p)
	case !sent.Has(field):
		return nil, fault.Newf(fault.InvalidParameter, "is required in the %s phase; send it or text", p).WithParam(field)
	}
	if c.Model == "" {
		c.Model = gjson.GetBytes(c.Request, "model").String()
	}
	return c, nil
}

// chatWith returns a chat request or response with one text.
func chatWith(text string, p guardrail.Phase) []byte {
	quoted := jsonedit.Quote(text)
	if p == guardrail.Output {
		return bytes.Join([][]byte{[]byte(`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":`), quoted, []byte(`},"finish_reason":"stop"}]}`)}, nil)
	}
	return bytes.Join([][]byte{[]byte(`{"messages":[{"role":"user","content":`), quoted, []byte(`}]}`)}, nil)
}

func viewTest(sent resource.Sent, t *tried, p guardrail.Phase, c *trial.Case, out *trial.Outcome) guardrailTestView {
	v := guardrailTestView{Object: "guardrail_test", Status: statusOf(t, out), Message: out.Message, Skipped: jsonfield.OrEmpty(t.skipped)}
	list := json.RawMessage("[" + string(out.Result) + "]")
	body, at := c.Request, "messages.@reverse.0.content"
	v.Results = hookresult.New(list, nil)
	if p == guardrail.Output {
		body, at = c.Response, "choices.0.message.content"
		v.Results = hookresult.New(nil, list)
	}
	if out.Body != nil {
		body = out.Body
	}
	v.Body = jsonfield.Document(body)
	if sent.Has("text") {
		text := gjson.GetBytes(body, at).String()
		v.Text = &text
	}
	return v
}

// statusOf returns the status that a guardrail gives to a call.
// Source: contract/dataplane.md 5.4.
func statusOf(t *tried, out *trial.Outcome) int {
	switch {
	case out.Denied && t.Actions.SoftDeny200:
		return http.StatusOK
	case out.Denied:
		return 446
	case out.Failed && !t.Actions.Async:
		return 246
	}
	return http.StatusOK
}
