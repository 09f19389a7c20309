package intake

import (
	"strconv"
	"strings"
	"time"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/wire"
)

// ReadOptions fills c from the header. It replaces the prefixes of aliases, in lower case and with
// the dash, by x-gateway- in place, so that later code handles one spelling.
func ReadOptions(c *call.Options, h wire.Header, aliases []string) {
	for i := range h {
		for _, a := range aliases {
			if rest, ok := strings.CutPrefix(h[i].Name, a); ok {
				h[i].Name = call.HeaderPrefix + rest
			}
		}
		switch f := optionField(c, h[i].Name); {
		case f == nil:
		case *f == "":
			*f = h[i].Value
		case f == &c.Baggage, f == &c.Protocols: // a list may use several header fields
			*f += "," + h[i].Value
		case *f != h[i].Value:
			c.Twice = h[i].Name
		}
	}
	if c.Authorization == "" && c.Protocols != "" {
		c.Authorization = offeredKey(c.Protocols)
	}
	if c.TimeoutMS != "" {
		if ms, err := strconv.ParseUint(c.TimeoutMS, 10, 32); err == nil {
			c.Timeout = time.Duration(ms) * time.Millisecond
		}
	}
}

// optionField returns the field that a header fills, or nil.
func optionField(c *call.Options, name string) *string {
	if rest, ok := strings.CutPrefix(name, call.HeaderPrefix); ok {
		return gatewayField(c, rest)
	}
	switch name {
	case "authorization":
		return &c.Authorization
	case "x-api-key":
		return &c.XAPIKey
	case "api-key":
		return &c.AzureKey
	case "x-goog-api-key":
		return &c.GoogleKey
	case "sec-websocket-protocol":
		return &c.Protocols
	case "content-type":
		return &c.ContentType
	case "traceparent":
		return &c.Traceparent
	case "baggage":
		return &c.Baggage
	}
	return nil
}

func gatewayField(c *call.Options, name string) *string {
	switch name {
	case "api-key":
		return &c.APIKey
	case "provider":
		return &c.Provider
	case "virtual-key":
		return &c.VirtualKey
	case "config":
		return &c.Config
	case "custom-host":
		return &c.CustomHost
	case "forward-headers":
		return &c.Forward
	case "trace-id":
		return &c.TraceID
	case "span-id":
		return &c.SpanID
	case "span-name":
		return &c.SpanName
	case "parent-span-id":
		return &c.ParentSpan
	case "metadata":
		return &c.Metadata
	case "strict-open-ai-compliance", "strict-openai-compliance":
		return &c.Strict
	case "strict-params":
		return &c.StrictParams
	case "beta":
		return &c.Beta
	case "request-timeout":
		return &c.TimeoutMS
	case "nitro-mode":
		return &c.Nitro
	case "sensitive-headers":
		return &c.Sensitive
	case "debug":
		return &c.Debug
	case "cache-namespace":
		return &c.CacheNamespace
	case "cache-force-refresh":
		return &c.CacheRefresh
	case "passthrough":
		return &c.Passthrough
	case "runtime":
		return &c.Runtime
	case "runtime-version":
		return &c.RuntimeVersion
	case "package-version":
		return &c.PackageVersion
	case "fetch-integrated-models", "models-endpoint":
		return &c.FetchIntegrated
	}
	return nil
}

// offeredKey returns the Authorization header for the key in a list of subprotocols, or "" without a
// key.
func offeredKey(protocols string) string {
	for p := range strings.SplitSeq(protocols, ",") {
		if key, ok := strings.CutPrefix(strings.TrimSpace(p), call.KeyProtocol); ok && key != "" {
			return "Bearer " + key
		}
	}
	return ""
}
