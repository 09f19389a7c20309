package spans

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
)

// Limits of attributes.
const (
	maxAttributes = 256
	maxName       = 256       // bytes of names, of spans and attributes
	maxText       = 256 << 10 // bytes of a value
	maxResource   = 64 << 10  // bytes of a resource, which is stored with every one of its spans and log records
)

// values are attributes by name. Later ones override earlier ones.
type values map[string]any

// readValues checks attributes and converts them to values that JSON supports. The error names
// the path.
func readValues(list []*common.KeyValue, path string) (values, error) {
	if len(list) > maxAttributes {
		return nil, fault.Newf(fault.InvalidParameter, "must not have more than %d attributes", maxAttributes).WithParam(path)
	}
	out := make(values, len(list))
	for _, kv := range list {
		name := kv.GetKey()
		if len(name) > maxName {
			return nil, fault.Newf(fault.InvalidParameter, "attribute names must not exceed %d bytes", maxName).WithParam(path)
		}
		v, ok := plain(kv.GetValue())
		if !ok {
			return nil, fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", maxText).WithParam(path + "." + name)
		}
		out[name] = shown(name, v)
	}
	return out, nil
}

// headerNames are the prefixes of attributes that contain header lines. Source: OpenTelemetry
// semantic conventions, HTTP attributes.
var headerNames = []string{"http.request.header.", "http.response.header."}

// shown returns the value of an attribute as it may be stored. Captured header lines and URLs
// contain credentials, which the gateway's logs never store.
func shown(name string, v any) any {
	for _, begin := range headerNames {
		if header, ok := strings.CutPrefix(name, begin); ok && wire.IsCredentialName(strings.ToLower(header)) {
			return sealed.Mask
		}
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	switch name {
	case "url.full", "http.url":
		return sealed.Address(text)
	case "http.target":
		return sealed.Target(text)
	case "url.query":
		return strings.TrimPrefix(sealed.Target("?"+text), "?")
	}
	return v
}

// readResource works like readValues for the resource of a message.
func readResource(r *resource.Resource, path string) (values, error) {
	if proto.Size(r) > maxResource {
		return nil, fault.Newf(fault.InvalidParameter, "a resource must not exceed %d bytes", maxResource).WithParam(path)
	}
	return readValues(r.GetAttributes(), path)
}

// plain returns a value as JSON encodes it; false if a string in it is too long.
func plain(v *common.AnyValue) (any, bool) {
	switch x := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return x.StringValue, len(x.StringValue) <= maxText
	case *common.AnyValue_BoolValue:
		return x.BoolValue, true
	case *common.AnyValue_IntValue:
		return x.IntValue, true
	case *common.AnyValue_DoubleValue:
		if math.IsNaN(x.DoubleValue) || math.IsInf(x.DoubleValue, 0) {
			return strconv.FormatFloat(x.DoubleValue, 'g', -1, 64), true
		}
		return x.DoubleValue, true
	case *common.AnyValue_BytesValue:
		return base64.StdEncoding.EncodeToString(x.BytesValue), len(x.BytesValue) <= maxText
	case *common.AnyValue_ArrayValue:
		out := make([]any, 0, len(x.ArrayValue.GetValues()))
		for _, e := range x.ArrayValue.GetValues() {
			p, ok := plain(e)
			if !ok {
				return nil, false
			}
			out = append(out, p)
		}
		return out, true
	case *common.AnyValue_KvlistValue:
		out := make(map[string]any, len(x.KvlistValue.GetValues()))
		for _, kv := range x.KvlistValue.GetValues() {
			p, ok := plain(kv.GetValue())
			if !ok || len(kv.GetKey()) > maxName {
				return nil, false
			}
			out[kv.GetKey()] = p
		}
		return out, true
	}
	return nil, true
}

// text returns the first of some attributes that is a non-empty string.
func (v values) text(names ...string) string {
	for _, name := range names {
		if s, _ := v[name].(string); s != "" && utf8.ValidString(s) {
			return s
		}
	}
	return ""
}

// count returns the first of some attributes that is a number; reported states whether there is
// one. A negative number becomes 0.
func (v values) count(names ...string) (n int64, reported bool) {
	for _, name := range names {
		switch x := v[name].(type) {
		case int64:
			return max(x, 0), true
		case float64:
			if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
				return max(int64(x), 0), true
			}
		}
	}
	return 0, false
}
