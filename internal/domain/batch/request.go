package batch

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Request is the body of POST /batches:
//
//	{"input_file_id":"file-gw…","endpoint":"/v1/chat/completions","completion_window":"immediate",
//	 "metadata":{"team":"search"},"gateway_options":{"config":"pc-x","metadata":{"_user":"u"}}}
type Request struct {
	InputFileID string
	Endpoint    string
	Window      string
	Metadata    map[string]string
	Header      wire.Header // of the calls, from gateway_options
}

// ReadRequest reads the body of POST /batches. Errors are fault.InvalidParameter with the field.
func ReadRequest(d *jsonedit.Doc) (*Request, error) {
	r := new(Request)
	for _, f := range []struct {
		name string
		into *string
	}{{"input_file_id", &r.InputFileID}, {"endpoint", &r.Endpoint}, {"completion_window", &r.Window}} {
		text, ok := d.String(f.name)
		if !ok || text == "" {
			return nil, invalid(f.name, "is required; it must be a string")
		}
		*f.into = text
	}
	if _, ok := EndpointOf(r.Endpoint); !ok {
		return nil, invalid("endpoint", "must be one of "+strings.Join(Endpoints(), ", "))
	}
	if r.Window != Immediate && !slices.Contains(windows, r.Window) {
		return nil, invalid("completion_window", `must be "immediate", or a window of a provider: `+strings.Join(windows, ", "))
	}
	var err error
	if r.Metadata, err = readMetadata(d); err != nil {
		return nil, err
	}
	if raw, ok := d.Raw("gateway_options"); ok && !jsonedit.IsNull(raw) {
		r.Header, err = readOptions(raw)
	}
	return r, err
}

// windows are the completion windows of providers' batches.
var windows = []string{"24h", "48h", "72h", "7d", "168h", "14d"}

// endpoints are the paths whose calls a batch may contain: one JSON body and one JSON response.
var endpoints = []struct {
	path     string
	endpoint llm.Endpoint
}{
	{"/v1/chat/completions", llm.ChatComplete},
	{"/v1/completions", llm.Complete},
	{"/v1/embeddings", llm.Embed},
	{"/v1/responses", llm.CreateModelResponse},
	{"/v1/messages", llm.Messages},
	{"/v1/moderations", llm.Moderate},
	{"/v1/rerank", llm.Rerank},
	{"/v1/images/generations", llm.ImageGenerate},
}

// EndpointOf returns the endpoint of a path that a batch may call.
func EndpointOf(path string) (llm.Endpoint, bool) {
	for _, e := range endpoints {
		if e.path == path {
			return e.endpoint, true
		}
	}
	return "", false
}

// Endpoints returns the paths that a batch may call.
func Endpoints() []string {
	list := make([]string, len(endpoints))
	for i := range endpoints {
		list[i] = endpoints[i].path
	}
	return list
}

func readMetadata(d *jsonedit.Doc) (map[string]string, error) {
	raw, ok := d.Raw("metadata")
	if !ok || jsonedit.IsNull(raw) {
		return nil, nil
	}
	var m map[string]string
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, invalid("metadata", "must be an object of strings")
	}
	if len(m) > MaxMetadata {
		return nil, fault.Newf(fault.InvalidParameter, "metadata must not have more than %d entries", MaxMetadata).WithParam("metadata")
	}
	for name, value := range m {
		if utf8.RuneCountInString(name) > MaxMetadataKey || utf8.RuneCountInString(value) > MaxMetadataValue {
			return nil, fault.Newf(fault.InvalidParameter, "metadata must not have names over %d or values over %d characters", MaxMetadataKey, MaxMetadataValue).WithParam("metadata")
		}
	}
	return m, nil
}

// forbidden are headers that the gateway sets on the calls of a batch.
var forbidden = []string{"content-type", "content-length", "content-encoding", "host", "accept-encoding", "x-gateway-api-key"}

// readOptions reads gateway_options: header lines, whose names may leave out "x-gateway-". A value
// that is an object or list is sent as JSON.
func readOptions(raw []byte) (wire.Header, error) {
	if raw[0] != '{' {
		return nil, invalid("gateway_options", "must be an object of headers")
	}
	if len(raw) > MaxHeaderBytes {
		return nil, fault.Newf(fault.InvalidParameter, "gateway_options must not exceed %d bytes", MaxHeaderBytes).WithParam("gateway_options")
	}
	var h wire.Header
	for rawName, val := range jsonedit.Members(raw) {
		name, _ := jsonedit.Unquote(rawName)
		field := "gateway_options." + name
		value, ok := optionValue(val)
		if !ok {
			continue
		}
		refused := slices.Contains(forbidden, strings.ToLower(name))
		name = headerName(name)
		switch {
		case refused:
			return nil, invalid(field, "cannot be set; remove it")
		case !wire.ValidName(name):
			return nil, invalid(field, "must be a header name")
		case slices.Contains(forbidden, name) || wire.HopByHop(name):
			return nil, invalid(field, "cannot be set; remove it")
		case !wire.ValidValue(value):
			return nil, invalid(field, "must be a valid header value")
		}
		h.Set(name, value)
	}
	return h, nil
}

// optionValue returns the header value of a JSON value; null has none.
func optionValue(val []byte) (string, bool) {
	switch {
	case jsonedit.IsNull(val):
		return "", false
	case val[0] == '"':
		return jsonedit.Unquote(val)
	}
	return string(compact(val)), true
}

// headerName returns the header that an option names: "config" is "x-gateway-config".
func headerName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	switch {
	case name == "authorization", strings.HasPrefix(name, "x-"), strings.HasPrefix(name, "openai-"), strings.HasPrefix(name, "anthropic-"):
		return name
	case name == "virtual-key-id":
		return "x-gateway-virtual-key"
	}
	return "x-gateway-" + name
}

func compact(val []byte) []byte {
	var v json.RawMessage = val
	out, err := json.Marshal(v)
	if err != nil {
		return val
	}
	return out
}

// Line is a line of an input file:
//
//	{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini",…}}
type Line struct {
	Number   int64 // from 0
	CustomID string
	Body     []byte
}

// ReadLine reads a line for a batch with an endpoint. The error names the field.
func ReadLine(number int64, text []byte, endpoint string) (Line, error) {
	l := Line{Number: number, CustomID: jsonedit.Text(text, "custom_id")}
	switch {
	case !jsonedit.Valid(text):
		return l, errors.New("the line is not a JSON object")
	case l.CustomID == "":
		return l, errors.New("custom_id is required; it must be a string")
	case len(l.CustomID) > MaxCustomID:
		return l, errors.New("custom_id is longer than 512 bytes")
	}
	if method := jsonedit.Text(text, "method"); method != "POST" {
		return l, errors.New(`method must be "POST"`)
	}
	if to := jsonedit.Text(text, "url"); pathOf(to) != endpoint {
		return l, errors.New("url must be the endpoint of the batch, " + endpoint)
	}
	body, _ := jsonedit.Find(text, "body")
	if len(body) == 0 || body[0] != '{' {
		return l, errors.New("body is required; it must be an object")
	}
	if stream, _ := jsonedit.Find(body, "stream"); string(stream) == "true" {
		return l, errors.New("body.stream must not be true in a batch")
	}
	l.Body = body
	return l, nil
}

// pathOf returns the path of a url, which may name a host.
func pathOf(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	return u.Path
}

func invalid(field, text string) *fault.Error {
	return fault.New(fault.InvalidParameter, field+" "+text).WithParam(field)
}
