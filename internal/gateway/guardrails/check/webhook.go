package check

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/kernel/jsonedit"
)

// hookTimeout is the time limit of webhook and log without a parameter timeout.
const hookTimeout = 3 * time.Second

// webhook lets a service of the user judge a request or response. The service may replace the body.
// Its response is an object with the member verdict, and optionally data and transformedData.
func webhook() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.webhook", Phases: bothPhases(), Params: []param.Param{
			param.Required("webhookURL", param.Link), param.Optional("headers", param.Headers), param.Timeout,
			param.Optional("forwardHeaders", param.ForwardHeaders),
		}},
		New: func(p Params, d *Deps) (Runner, error) {
			s, err := newService(p, d, "webhookURL", hookTimeout)
			if err != nil {
				return nil, err
			}
			s.header, err = headersFrom(p, "headers")
			return &webhookRunner{service: s, forward: p.List("forwardHeaders")}, err
		},
	}
}

type webhookRunner struct {
	service *service
	forward []string // names of client headers
}

// Rewrites implements Rewriter: any response of the service may contain a new body.
func (w *webhookRunner) Rewrites() bool { return true }

// webhookVerdict is the response of a webhook.
type webhookVerdict struct {
	Verdict     *bool           `json:"verdict"`
	Data        json.RawMessage `json:"data"`
	Transformed struct {
		Request  webhookBody `json:"request"`
		Response webhookBody `json:"response"`
	} `json:"transformedData"`
}

type webhookBody struct {
	JSON json.RawMessage `json:"json"`
}

// Run sends the context of the call and reads the verdict.
func (w *webhookRunner) Run(ctx context.Context, in *Input) Result {
	data := report{"webhookUrl": w.service.shown, "verdict": false}
	payload, err := contextOf(in)
	if err != nil {
		return errorResult("the context of the call cannot be written as JSON", data)
	}
	header := forwarded(w.forward, in.Header)
	header.Set("traceparent", traceparent(in.TraceID))
	raw, failed := w.service.post(ctx, header, payload)
	if failed != nil {
		data["explanation"], data["responseError"] = failed.Message, raw
		return Result{Error: failed, Data: data}
	}
	var response webhookVerdict
	if err := json.Unmarshal(raw, &response); err != nil || response.Verdict == nil {
		return errorResult(`the response of the webhook must be a JSON object with a boolean "verdict"`, data)
	}
	body, ok := response.body(in.Phase)
	if !ok {
		return errorResult("the body that the webhook returned in transformedData must be a JSON object", data)
	}
	data["verdict"], data["responseData"] = *response.Verdict, shownJSON(response.Data)
	data["explanation"] = choose(*response.Verdict, "the webhook accepted the call", "the webhook rejected the call")
	return Result{Verdict: *response.Verdict, Data: data, Body: body}
}

// body returns the new body of a phase, nil for none. It reports false if that is not an object.
func (v *webhookVerdict) body(p guardrail.Phase) ([]byte, bool) {
	raw := v.Transformed.Response.JSON
	if p == guardrail.Input {
		raw = v.Transformed.Request.JSON
	}
	if jsonedit.IsNull(raw) {
		return nil, true
	}
	doc := jsonedit.GetDoc()
	defer jsonedit.PutDoc(doc)
	return raw, jsonedit.Scan(raw, doc) == nil
}

// logCheck sends each response to a service of the user. It passes unless that fails.
func logCheck() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.log", Phases: outputPhase(), Params: []param.Param{
			param.Required("logURL", param.Link), param.Optional("headers", param.Headers), param.Timeout,
		}},
		New: func(p Params, d *Deps) (Runner, error) {
			s, err := newService(p, d, "logURL", hookTimeout)
			if err != nil {
				return nil, err
			}
			s.header, err = headersFrom(p, "headers")
			return &logRunner{s}, err
		},
	}
}

type logRunner struct{ service *service }

// Run sends the context of the call.
func (l *logRunner) Run(ctx context.Context, in *Input) Result {
	data := report{"logUrl": l.service.shown}
	payload, err := contextOf(in)
	if err != nil {
		return errorResult("the context of the call cannot be written as JSON", data)
	}
	if raw, failed := l.service.post(ctx, nil, payload); failed != nil {
		data["explanation"], data["responseError"] = failed.Message, raw
		return Result{Error: failed, Data: data}
	}
	data["explanation"] = "the call was sent"
	return Result{Verdict: true, Data: data}
}

// hookContext is what webhook and log send. It has no headers of the client.
// Source: contract/dataplane.md 5.6.
type hookContext struct {
	Request struct {
		JSON        json.RawMessage `json:"json"`
		Text        string          `json:"text"`
		Streaming   bool            `json:"isStreamingRequest"`
		Transformed bool            `json:"isTransformed"`
	} `json:"request"`
	Response struct {
		JSON        json.RawMessage `json:"json"`
		Text        string          `json:"text"`
		Status      *int            `json:"statusCode"`
		Transformed bool            `json:"isTransformed"`
	} `json:"response"`
	Provider    string            `json:"provider"`
	RequestType string            `json:"requestType"`
	Metadata    map[string]string `json:"metadata"`
	EventType   string            `json:"eventType"`
}

// contextOf describes a call as JSON.
func contextOf(in *Input) ([]byte, error) {
	c := hookContext{Provider: in.Provider, RequestType: string(in.Endpoint), Metadata: in.Metadata, EventType: "beforeRequestHook"}
	if c.Metadata == nil {
		c.Metadata = map[string]string{}
	}
	c.Request.JSON, c.Request.Streaming = in.Request, in.Streaming
	if in.Phase == guardrail.Output {
		c.EventType = "afterRequestHook"
		c.Request.Text = requestText(in)
		c.Response.JSON, c.Response.Text, c.Response.Status, c.Response.Transformed = in.Body, in.Text(), &in.Status, in.Transformed
		return json.Marshal(&c)
	}
	c.Request.JSON, c.Request.Text, c.Request.Transformed = in.Body, in.Text(), in.Transformed
	return json.Marshal(&c)
}

// requestText returns the last message of the request of a response; "" if it cannot be read.
func requestText(in *Input) string {
	body, err := passage.Request(in.Endpoint, in.Request)
	if err != nil {
		return ""
	}
	var last Input
	list := body.Passages()
	for _, i := range body.Scope(passage.LastMessage) {
		last.Texts = append(last.Texts, list[i].Text)
	}
	return last.Text()
}

// traceparent returns the W3C trace context of a trace id, with a new span.
// Source: https://www.w3.org/TR/trace-context/, section 3.2.
func traceparent(traceID string) string {
	trace := record.W3CTrace(traceID)
	var span [8]byte
	_, _ = rand.Read(span[:]) // never fails; see crypto/rand
	span[0] |= 1              // the span id must not be zero
	return "00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(span[:]) + "-01"
}
