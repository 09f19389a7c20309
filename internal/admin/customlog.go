package admin

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/record"
	"sluice/internal/resource"
	"sluice/internal/wire"
)

// customSent is an entry as it is read: the bodies stay as they were written.
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

// customLog makes a record of an entry. It began as long ago as the call took.
func (k deps) customLog(c *resource.Call, item resource.Sent) (*record.Attempt, error) {
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
	a.Usage, a.ResponseModel = dialect.Usage(a.Endpoint, s.Response.Body, "")
	var parsed struct{ Model, User string }
	_ = json.Unmarshal(s.Request.Body, &parsed) // what is no text is none
	a.Model = cmp.Or(parsed.Model, a.ResponseModel)
	a.MaskCredentials(k.BodyLogBytes)
	return a, describe(a, s.Metadata, parsed.User)
}

// plainAddress is a URL without what may be secret in it.
func plainAddress(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxCustomURL {
		return "", fault.Newf(fault.InvalidParameter, "must be a valid URL of at most %d bytes", maxCustomURL).WithParam("request.url")
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String(), nil
}

// endpointOf is the endpoint whose path an address ends with, the longest counting:
// "https://api.openai.com/v1/chat/completions" is chatComplete. Others are proxy.
func endpointOf(address string) llm.Endpoint {
	found, longest := llm.Proxy, 0
	for _, r := range llm.Routes {
		if r.Method == http.MethodPost && len(r.Path) > longest && strings.HasSuffix(address, r.Path) {
			found, longest = r.Endpoint, len(r.Path)
		}
	}
	return found
}

// truncateBody is as much of a body as the deployment keeps.
func (k deps) truncateBody(headers map[string]string, body []byte) record.Body {
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

// traceFields are the names under which metadata says where in a trace a call stands,
// that of the contract first.
var traceFields = []struct {
	snake, camel string
	field        func(*record.Attempt) *string
}{
	{"trace_id", "traceId", func(a *record.Attempt) *string { return &a.TraceID }},
	{"span_id", "spanId", func(a *record.Attempt) *string { return &a.SpanID }},
	{"span_name", "spanName", func(a *record.Attempt) *string { return &a.SpanName }},
	{"parent_span_id", "parentSpanId", func(a *record.Attempt) *string { return &a.ParentSpan }},
}

// renamedMetadata are names of metadata that stand for the special ones.
var renamedMetadata = map[string]string{"user": "_user", "organization": "_organisation", "organisation": "_organisation"}

// describe puts what was sent as metadata where it belongs. The user that the body names
// counts where the metadata names none.
func describe(a *record.Attempt, sent map[string]string, user string) error {
	rest := make(map[string]string, len(sent)+1)
	if user != "" && len(user) <= maxCustomValue {
		rest["_user"] = user
	}
	if sent["user"] != "" { // else either of the two could win
		delete(rest, "_user")
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) { // "_user" before "user", which counts where that says nothing
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
