package dataplane

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/gateway/call"
	"sluice/internal/wire"
)

// prefix begins the name of every control header.
const prefix = call.HeaderPrefix

// controls are the control headers of a request, as received. Unknown x-gateway-* headers are not
// an error, because client libraries turn any option into one.
// Source: contract/dataplane.md 1.1 and part 8.
type controls struct {
	apiKey, authorization, xAPIKey              string
	azureKey, googleKey, protocols              string
	provider, virtualKey, config, customHost    string
	forward, nitro                              string
	traceID, spanID, spanName, parentSpan       string
	traceparent, baggage, metadata, contentType string
	strict, debug, fetchIntegrated, timeoutMS   string
	strictParams, beta, sensitive, passthrough  string
	runtime, runtimeVersion, packageVersion     string // of the client library
	timeout                                     time.Duration
	twice                                       string // a header with two different values
}

// read fills c from the header. It replaces alias prefixes by x-gateway- in place, so that later
// code handles one spelling.
func (c *controls) read(h wire.Header, aliases []string) {
	for i := range h {
		for _, a := range aliases {
			if rest, ok := strings.CutPrefix(h[i].Name, a); ok {
				h[i].Name = prefix + rest
			}
		}
		switch f := c.field(h[i].Name); {
		case f == nil:
		case *f == "":
			*f = h[i].Value
		case f == &c.baggage, f == &c.protocols: // a list may use several header fields
			*f += "," + h[i].Value
		case *f != h[i].Value:
			c.twice = h[i].Name
		}
	}
	if c.authorization == "" && c.protocols != "" {
		c.authorization = offered(c.protocols)
	}
	if c.timeoutMS != "" {
		if ms, err := strconv.ParseUint(c.timeoutMS, 10, 32); err == nil {
			c.timeout = time.Duration(ms) * time.Millisecond
		}
	}
}

func (c *controls) field(name string) *string {
	if rest, ok := strings.CutPrefix(name, prefix); ok {
		return c.gatewayField(rest)
	}
	switch name {
	case "authorization":
		return &c.authorization
	case "x-api-key":
		return &c.xAPIKey
	case "api-key":
		return &c.azureKey
	case "x-goog-api-key":
		return &c.googleKey
	case "sec-websocket-protocol":
		return &c.protocols
	case "content-type":
		return &c.contentType
	case "traceparent":
		return &c.traceparent
	case "baggage":
		return &c.baggage
	}
	return nil
}

func (c *controls) gatewayField(name string) *string {
	switch name {
	case "api-key":
		return &c.apiKey
	case "provider":
		return &c.provider
	case "virtual-key":
		return &c.virtualKey
	case "config":
		return &c.config
	case "custom-host":
		return &c.customHost
	case "forward-headers":
		return &c.forward
	case "trace-id":
		return &c.traceID
	case "span-id":
		return &c.spanID
	case "span-name":
		return &c.spanName
	case "parent-span-id":
		return &c.parentSpan
	case "metadata":
		return &c.metadata
	case "strict-open-ai-compliance", "strict-openai-compliance":
		return &c.strict
	case "strict-params":
		return &c.strictParams
	case "beta":
		return &c.beta
	case "request-timeout":
		return &c.timeoutMS
	case "nitro-mode":
		return &c.nitro
	case "sensitive-headers":
		return &c.sensitive
	case "debug":
		return &c.debug
	case "passthrough":
		return &c.passthrough
	case "runtime":
		return &c.runtime
	case "runtime-version":
		return &c.runtimeVersion
	case "package-version":
		return &c.packageVersion
	case "fetch-integrated-models", "models-endpoint":
		return &c.fetchIntegrated
	}
	return nil
}

// garbledHeader returns the name of a header that sets metadata or log fields and whose value is
// not valid UTF-8. It returns "" if all are valid.
func (g *Gateway) garbledHeader(x *exchange) string {
	c := &x.ctl
	baggage, err := url.PathUnescape(c.baggage)
	if err != nil {
		baggage = c.baggage // readMetadata omits entries that cannot be unescaped
	}
	for _, h := range [...]struct{ name, value string }{
		{prefix + "metadata", c.metadata}, {prefix + "trace-id", c.traceID}, {prefix + "span-id", c.spanID}, {prefix + "span-name", c.spanName},
		{prefix + "parent-span-id", c.parentSpan}, {traceparentHeader, c.traceparent}, {"baggage", baggage},
		{prefix + "runtime", c.runtime}, {prefix + "runtime-version", c.runtimeVersion}, {prefix + "package-version", c.packageVersion},
	} {
		if !utf8.ValidString(h.value) {
			return h.name
		}
	}
	for _, from := range g.set.MetadataFrom {
		if !utf8.ValidString(x.req.Header.Get(from.Header)) {
			return from.Header
		}
	}
	return ""
}

// asksFor reports whether the caller opts in to a feature by its name in x-gateway-beta, a
// comma-separated list. Unknown names are ignored.
func (c *controls) asksFor(feature string) bool {
	for name := range strings.SplitSeq(c.beta, ",") {
		if strings.TrimSpace(name) == feature {
			return true
		}
	}
	return false
}

// KeyProtocol begins the name of a WebSocket subprotocol that contains an API key. OpenAI's
// browser clients cannot set headers of a WebSocket. They offer "openai-insecure-api-key.sk-…"
// together with "realtime" instead.
// Source: https://platform.openai.com/docs/guides/realtime-websocket, read 2026-11.
const KeyProtocol = "openai-insecure-api-key."

// offered returns the Authorization header for the key in a list of subprotocols, or "" without a
// key.
func offered(protocols string) string {
	for p := range strings.SplitSeq(protocols, ",") {
		if key, ok := strings.CutPrefix(strings.TrimSpace(p), KeyProtocol); ok && key != "" {
			return "Bearer " + key
		}
	}
	return ""
}

// bearer returns the token of an Authorization header, or "" if it is not a bearer token.
func bearer(v string) string {
	const scheme = "bearer "
	if len(v) > len(scheme) && strings.EqualFold(v[:len(scheme)], scheme) {
		return strings.TrimSpace(v[len(scheme):])
	}
	return ""
}
