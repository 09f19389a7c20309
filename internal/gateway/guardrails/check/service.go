package check

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/domain/guardrail/param"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// Names of the errors of checks. Source: contract/dataplane.md 5.3.
const (
	timeoutError = "TimeoutError"
	httpError    = "HttpError"
	checkError   = "Check error"
)

// service is an external service that a check calls with a time limit.
type service struct {
	deps    *Deps
	url     string // "https://hooks.example.com/check?key=1"
	shown   string // url without its query, which may contain a credential
	header  wire.Header
	timeout time.Duration
	// maxBytes limits the response body; 0 means MaxServiceBytes.
	maxBytes int64
}

// newService reads the URL from a parameter. otherwise is the time limit without a parameter timeout.
func newService(p Params, d *Deps, urlName string, otherwise time.Duration) (*service, error) {
	u, err := url.Parse(p.Text(urlName, ""))
	if err != nil || u.Host == "" {
		return nil, invalidParameter(urlName, "must be a URL such as https://hooks.example.com/check")
	}
	if u.User != nil {
		return nil, invalidParameter(urlName, "must not contain a user name or password; send credentials in a header")
	}
	return &service{deps: d, url: u.String(), shown: u.Scheme + "://" + u.Host + u.EscapedPath(), timeout: milliseconds(p, "timeout", otherwise)}, nil
}

// milliseconds returns a duration from a parameter.
func milliseconds(p Params, name string, otherwise time.Duration) time.Duration {
	return time.Duration(p.Number(name, float64(otherwise.Milliseconds()))) * time.Millisecond
}

// send sends a request and returns the response, whatever its status.
func (s *service) send(ctx context.Context, method string, header wire.Header, body []byte) (*ServiceResponse, *Error) {
	if s.deps == nil || s.deps.Services == nil {
		return nil, &Error{checkError, "this gateway cannot call external services; configure them"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	h := s.header.Clone(len(header))
	for _, f := range header {
		if !s.header.Has(f.Name) { // the parameters of the check take precedence
			h = append(h, f)
		}
	}
	resp, err := s.deps.Services.Call(ctx, &ServiceRequest{Method: method, URL: s.url, Header: h, Body: body, MaxBytes: s.maxBytes})
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	return resp, nil
}

// failure describes an error of Services.
func (s *service) failure(ctx context.Context, err error) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || fault.Has(err, fault.UpstreamTimeout) {
		return &Error{timeoutError, "the service did not respond in " + strconv.FormatInt(s.timeout.Milliseconds(), 10) + " ms; raise the timeout of the check or correct the service"}
	}
	return &Error{httpError, "the service cannot be called: " + publicText(err)}
}

// publicText returns the text of an error without addresses and causes.
func publicText(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Text()
	}
	return fault.Clip(err.Error())
}

// post sends JSON and returns a response with status 2xx. After another status, the error of the
// service is in response, if it is JSON.
func (s *service) post(ctx context.Context, header wire.Header, body []byte) (response json.RawMessage, _ *Error) {
	h := header.Clone(1)
	h.Set("content-type", jsonType)
	resp, failed := s.send(ctx, "POST", h, body)
	if failed != nil {
		return nil, failed
	}
	if resp.Status < 200 || resp.Status > 299 {
		return shownJSON(resp.Body), &Error{httpError, "the service responded with status " + strconv.Itoa(resp.Status) + "; it must respond with 200"}
	}
	return resp.Body, nil
}

// maxShownJSON is the size of a response of a service that results quote.
const maxShownJSON = 64 << 10

// shownJSON returns a response that a result may quote: JSON of bounded size, else nil.
func shownJSON(raw []byte) json.RawMessage {
	if len(raw) > maxShownJSON || !isJSON(string(raw)) {
		return nil
	}
	return raw
}

// headersFrom reads the header fields of a parameter: an object of strings, or the JSON text of one.
func headersFrom(p Params, name string) (wire.Header, error) {
	fields := p.Object(name)
	if text := p.Text(name, ""); text != "" {
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			return nil, invalidParameter(name, "must be an object of strings")
		}
	}
	var h wire.Header
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value, _ := fields[key].(string)
		lower := strings.ToLower(key)
		switch {
		case !wire.ValidName(key) || !wire.ValidValue(value):
			return nil, invalidParameter(name, "must have header names and values without control characters")
		case wire.HopByHop(lower) || lower == "host" || lower == "content-length":
			return nil, invalidParameter(name, "must not contain "+lower+", which belongs to the connection")
		}
		h.Set(lower, value)
	}
	return h, nil
}

// bodyHeaders describe the client's body or the response that it accepts, not those of a service.
var bodyHeaders = []string{"content-type", "content-encoding", "accept", "accept-encoding", "expect"}

// forwarded returns the header fields of a client's request that a check may pass on.
func forwarded(names []string, from wire.Header) wire.Header {
	var h wire.Header
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if !param.MayForward(name) || wire.CredentialHeader(name) || slices.Contains(bodyHeaders, name) {
			continue
		}
		for _, value := range from.Values(name) {
			h.Add(name, value)
		}
	}
	return h
}
