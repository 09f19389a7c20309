package logs

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// customSent is an entry before its bodies are parsed: they remain as they were sent.
type customSent struct {
	Request struct {
		URL, Provider, Method string
		Headers               map[string]string
		Body                  json.RawMessage
	}
	Response struct {
		Status        int
		Headers       map[string]string
		Body          json.RawMessage
		ResponseTime  int64 `json:"response_time"`
		ResponseCamel int64 `json:"responseTime"`
		Time          int64
		Stream        bool `json:"streamingMode"`
		Streamed      bool `json:"streaming_mode"`
	}
	Metadata map[string]string
}

// customLog converts an entry to a record. The record starts earlier than now by the duration of
// the call.
func (k customLogs) customLog(c *resource.Call, item resource.Sent) (*record.Attempt, error) {
	var s customSent
	for _, name := range []string{"request", "response", "metadata"} {
		to := map[string]any{"request": &s.Request, "response": &s.Response, "metadata": &s.Metadata}[name]
		if err := item.Into(name, to); err != nil {
			return nil, err
		}
	}
	address, err := plainAddress(s.Request.URL)
	if err != nil {
		return nil, err
	}
	took := time.Duration(cmp.Or(s.Response.ResponseTime, s.Response.ResponseCamel, s.Response.Time)) * time.Millisecond
	id := ident.NewID()
	a := &record.Attempt{
		ID: id, RequestID: id, TraceID: id, Started: c.Now.Add(-took), Duration: took, Source: record.FromAPI,
		OrgID: c.OrgID, WorkspaceID: c.WorkspaceID, KeyID: keyOf(c), UserID: c.Principal.UserID,
		Provider: s.Request.Provider, Method: strings.ToUpper(cmp.Or(s.Request.Method, http.MethodPost)),
		Path: address, UpstreamURL: address, Endpoint: endpointOf(address), Stream: s.Response.Stream || s.Response.Streamed, Outcome: record.OK,
		BytesIn: int64(len(s.Request.Body)), BytesOut: int64(len(s.Response.Body)),
		Request:  k.truncateBody(s.Request.Headers, s.Request.Body),
		Response: k.truncateBody(s.Response.Headers, s.Response.Body),
	}
	if a.KeyID != "" {
		a.KeyName = c.Principal.Name
	}
	a.Status = int32(cmp.Or(s.Response.Status, http.StatusOK))
	a.Upstream = a.Status
	if a.Status < 200 || a.Status > 299 {
		a.Outcome = record.Failed
	}
	a.Usage, a.ResponseModel = usage.Read(a.Endpoint, s.Response.Body, "")
	var parsed struct{ Model, User string }
	_ = json.Unmarshal(s.Request.Body, &parsed) // a body that is not an object has no model
	a.Model = cmp.Or(parsed.Model, a.ResponseModel)
	a.MaskCredentials(k.BodyLogBytes)
	return a, describe(a, s.Metadata, parsed.User)
}

// plainAddress returns a URL without the parts that may be secret.
func plainAddress(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxCustomURL {
		return "", fault.Newf(fault.InvalidParameter, "must be a valid URL of at most %d bytes", maxCustomURL).WithParam("request.url")
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String(), nil
}

// endpointOf returns the endpoint whose path is the longest suffix of an address:
// "https://api.openai.com/v1/chat/completions" is chatComplete. Other addresses are proxy.
func endpointOf(address string) llm.Endpoint {
	found, longest := llm.Proxy, 0
	for _, r := range llm.Routes {
		if r.Method == http.MethodPost && len(r.Path) > longest && strings.HasSuffix(address, r.Path) {
			found, longest = r.Endpoint, len(r.Path)
		}
	}
	return found
}

// truncateBody returns as much of a body as the deployment stores.
func (k customLogs) truncateBody(headers map[string]string, body []byte) record.Body {
	b := record.Body{Type: "application/json", Bytes: body, Size: int64(len(body))}
	for name, v := range headers {
		if strings.EqualFold(name, "content-type") && v != "" && len(v) <= maxCustomName {
			b.Type = v
		}
	}
	if len(body) > k.BodyLogBytes {
		b.Bytes, b.Truncated = body[:k.BodyLogBytes], true
	}
	return b
}

// traceFields are the metadata names for the position of a call in a trace, the name of the
// contract first.
var traceFields = []struct {
	snake, camel string
	field        func(*record.Attempt) *string
}{
	{"trace_id", "traceId", func(a *record.Attempt) *string { return &a.TraceID }},
	{"span_id", "spanId", func(a *record.Attempt) *string { return &a.SpanID }},
	{"span_name", "spanName", func(a *record.Attempt) *string { return &a.SpanName }},
	{"parent_span_id", "parentSpanId", func(a *record.Attempt) *string { return &a.ParentSpan }},
}

// renamedMetadata maps metadata names to the special names that they mean.
var renamedMetadata = map[string]string{"user": "_user", "organization": "_organisation", "organisation": "_organisation"}

// describe assigns the metadata that was sent to the fields of the record. The user in the body
// counts if the metadata does not name one.
func describe(a *record.Attempt, sent map[string]string, user string) error {
	rest := make(map[string]string, len(sent)+1)
	if user != "" && len(user) <= maxCustomValue {
		rest["_user"] = user
	}
	if sent["user"] != "" { // otherwise either of the two could win
		delete(rest, "_user")
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) { // "_user" comes before "user", which counts if "_user" is empty
		to := cmp.Or(renamedMetadata[name], name)
		if to == name || sent[name] != "" && sent[to] == "" {
			rest[to] = sent[name]
		}
	}
	for _, p := range traceFields {
		for _, name := range []string{p.camel, p.snake} {
			v := rest[name]
			if len(v) > maxCustomName || !wire.ValidValue(v) {
				return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes or contain control characters", maxCustomName).WithParam("metadata." + name)
			}
			if v != "" {
				*p.field(a) = v
			}
			delete(rest, name)
		}
	}
	if len(rest) > maxCustomMetadata {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d metadata pairs", maxCustomMetadata).WithParam("metadata")
	}
	for name, v := range rest {
		if len(v) > maxCustomValue || len(name) > maxCustomName {
			return fault.Newf(fault.InvalidParameter, "metadata keys must not exceed %d bytes, values %d", maxCustomName, maxCustomValue).WithParam("metadata." + name[:min(len(name), maxCustomName)])
		}
		if a.Metadata == nil {
			a.Metadata = make(map[string]string, len(rest))
		}
		a.Metadata[cmp.Or(renamedMetadata[name], name)] = v
	}
	return nil
}
