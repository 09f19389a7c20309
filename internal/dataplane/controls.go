package dataplane

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/wire"
)

// prefix begins every control header of ours.
const prefix = "x-gateway-"

// controls are the control headers of a request, as they came. Unknown
// x-gateway-* headers are no error: client libraries turn any option into one.
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
	runtime, runtimeVersion, packageVersion     string // of the client's library
	timeout                                     time.Duration
	twice                                       string // a header that came with two values
}

// read fills c from the header and renames alias prefixes to ours in place, so
// that every later reader knows one spelling.
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
		case f == &c.baggage, f == &c.protocols: // a list may come in lines
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

// garbledHeader is the name of a header of which metadata or fields of the log are made and
// whose value is not valid UTF-8; "" where all are.
func (g *Gateway) garbledHeader(x *exchange) string {
	c := &x.ctl
	baggage, err := url.PathUnescape(c.baggage)
	if err != nil {
		baggage = c.baggage // readMetadata leaves out what cannot be unescaped
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
// comma list. Names that nobody knows mean nothing.
func (c *controls) asksFor(feature string) bool {
	for name := range strings.SplitSeq(c.beta, ",") {
		if strings.TrimSpace(name) == feature {
			return true
		}
	}
	return false
}

// KeyProtocol begins the name of the subprotocol that is a key: in a browser OpenAI's clients
// cannot set the header of a WebSocket, and offer "openai-insecure-api-key.sk-…" beside
// "realtime" instead.
// Source: https://platform.openai.com/docs/guides/realtime-websocket, read 2026-11.
const KeyProtocol = "openai-insecure-api-key."

// offered is the Authorization header that a list of subprotocols stands for, "" for none.
func offered(protocols string) string {
	for p := range strings.SplitSeq(protocols, ",") {
		if key, ok := strings.CutPrefix(strings.TrimSpace(p), KeyProtocol); ok && key != "" {
			return "Bearer " + key
		}
	}
	return ""
}

// bearer returns the token of an Authorization header, "" when it is no bearer.
func bearer(v string) string {
	const scheme = "bearer "
	if len(v) > len(scheme) && strings.EqualFold(v[:len(scheme)], scheme) {
		return strings.TrimSpace(v[len(scheme):])
	}
	return ""
}
