package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/metering"
	"sluice/internal/gateway/tracecontext"
	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// prefix begins the name of every control header.
const prefix = call.HeaderPrefix

// upstreamHeaders builds the headers of upstream requests, and addresses follow-up calls.
type upstreamHeaders struct {
	userAgent     string
	traceContext  bool
	headerAliases []string
	ignoreHeaders []string
}

// upstreamHeader builds the header of the upstream call, without the credential, which the
// signer adds last. On typed routes it starts empty; on pass-through it starts with the
// client's lines. The lines of the provider's plan override both.
// Source: contract/dataplane.md 1.4.
func (u *upstreamHeaders) upstreamHeader(a *attempt) error {
	x := a.x
	h := x.scratch.sent[:0]
	if a.unified() {
		h = append(h, wire.Field{Name: "user-agent", Value: u.userAgent})
		if a.body.Len() != 0 || x.match.Body != llm.NoBody {
			h = append(h, wire.Field{Name: "content-type", Value: cmp.Or(x.ctl.ContentType, "application/json")})
		}
		if a.plan.Endpoint.Dialect == anthropic {
			h = u.forwardAnthropicHeaders(h, a)
		}
	} else {
		h = u.relayed(h, x)
	}
	names := a.target.ForwardHeaders
	if x.ctl.Forward != "" {
		var err error
		if names, err = routing.ForwardHeaders(x.ctl.Forward); err != nil {
			return err
		}
	}
	for _, n := range names {
		if name := u.ourName(n); name != passthroughHeader {
			forwardLines(&h, n, x.req.Header, name)
		}
	}
	for _, f := range a.hookHeaders {
		h.Set(f.Name, f.Value)
	}
	a.plan.Apply(&h)
	for _, f := range a.extra {
		h.Set(f.Name, f.Value)
	}
	if u.traceContext {
		tracecontext.SetHeaders(&h, &x.trace, a.recordID(), int32(a.number), x.req.Header, &x.ctl)
	}
	if a.customHost() != "" {
		h.Set(loopHeader, joined(x.req.Header.Get(loopHeader), loopName))
	}
	a.header, x.scratch.sent = h, h
	return nil
}

// forwardLines copies the lines with the given name and a value from the header from. They replace
// the lines of h that have the name as. Without such lines h is unchanged.
func forwardLines(h *wire.Header, as string, from wire.Header, name string) {
	first := true
	for _, f := range from {
		switch {
		case f.Name != name || f.Value == "":
		case first:
			h.Set(as, f.Value)
			first = false
		default:
			h.Add(as, f.Value)
		}
	}
}

// ourName returns the name under which the gateway finds a client's header. Headers with the prefix
// of an alias were renamed to the gateway's prefix.
func (u *upstreamHeaders) ourName(name string) string {
	for _, a := range u.headerAliases {
		if rest, ok := strings.CutPrefix(name, a); ok {
			return prefix + rest
		}
	}
	return name
}

// anthropic is the dialect whose providers read the headers of Anthropic clients.
const anthropic provider.Dialect = "anthropic"

// forwardAnthropicHeaders copies the caller's headers that begin with anthropic-, such as
// anthropic-workspace-id, for a provider that understands them. It leaves out the headers that
// the provider's spec has fields for, such as anthropic-beta, because the spec sends them, and
// those that are named like a credential.
// Source: https://platform.claude.com/docs/en/api/overview, read 2026-11.
func (u *upstreamHeaders) forwardAnthropicHeaders(h wire.Header, a *attempt) wire.Header {
	for _, f := range a.x.req.Header {
		rest, ok := strings.CutPrefix(f.Name, "anthropic-")
		if ok && !wire.IsCredentialName(rest) && !a.spec.Reads(f.Name) && !slices.Contains(u.ignoreHeaders, f.Name) {
			h = append(h, f)
		}
	}
	return h
}

// checkMethod rejects methods that are not passed through. An upstream that answers TRACE correctly
// returns the request, and so would reveal its credential to the caller.
func checkMethod(method string) error {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return nil
	}
	return fault.Newf(fault.NotSupported, "method %q is not supported for pass-through; use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS", clip(method))
}

// loopHeader lists the gateways that a call has passed through. It is sent to custom hosts,
// because only they can lead back to this gateway.
// Source: RFC 8586.
const (
	loopHeader = "cdn-loop"
	loopName   = "sluice"
	loopMax    = 4 // several gateways in a chain are in use
)

// checkLoop rejects a call that has passed through loopMax gateways of this kind. A custom host
// leads back to one of them, and the call would never end.
func checkLoop(h wire.Header) error {
	n := 0
	for _, line := range h.Values(loopHeader) {
		for hop := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(hop) == loopName {
				n++
			}
		}
	}
	if n < loopMax {
		return nil
	}
	err := fault.New(fault.InvalidRequest, "request loop detected: a custom host leads back to the gateway").WithParam("x-gateway-custom-host")
	err.Status = 508 // Loop Detected
	return err
}

func joined(list, item string) string {
	if list == "" {
		return item
	}
	return list + ", " + item
}

// relayed copies the client's header, except lines about this connection or this gateway, and
// credentials: only a signer sends a credential.
func (u *upstreamHeaders) relayed(h wire.Header, x *exchange) wire.Header {
	for _, f := range x.req.Header {
		switch {
		case wire.HopByHop(f.Name), ofConnection(x.req.Header, f.Name), strings.HasPrefix(f.Name, prefix), slices.Contains(u.ignoreHeaders, f.Name):
		case f.Name == "content-length", f.Name == "expect", f.Name == "host", wire.CredentialHeader(f.Name):
		default:
			h = append(h, f)
		}
	}
	return h
}

// ofConnection reports whether the header's Connection lines list name as a header of this
// connection only. Source: RFC 9110 section 7.6.1.
func ofConnection(h wire.Header, name string) bool {
	for i := range h {
		if h[i].Name == "connection" && syntax.HasToken(h[i].Value, name) {
			return true
		}
	}
	return false
}

// clientHeaders builds the headers of responses to clients.
type clientHeaders struct {
	headerAliases []string
	meter         *metering.Meter
}

// responseHeader builds the header of the response: the upstream's lines, except those about its
// connection and its host, and the gateway's. Source: contract/dataplane.md part 2.
func (c *clientHeaders) responseHeader(x *exchange, from wire.Header) wire.Header {
	h := x.scratch.clientHeader[:0]
	for _, f := range from {
		switch {
		case wire.HopByHop(f.Name), ofConnection(from, f.Name), strings.HasPrefix(f.Name, prefix):
		case f.Name == "content-length", f.Name == "x-powered-by", ofHost(f.Name):
		default:
			h = append(h, f)
		}
	}
	h = c.addGatewayHeaders(h, x)
	x.scratch.clientHeader = h
	return h
}

// ofHost reports whether clients apply a response header to the host that they called. Relayed from
// a provider, such a header would make clients store the provider's cookies for the gateway, try
// the gateway at the provider's other ports, or refuse plain HTTP of the gateway and its domain
// from then on. Sources: RFC 6265, RFC 7838 section 3, RFC 6797, the Fetch standard, Clear
// Site Data, Reporting API, Network Error Logging.
func ofHost(name string) bool {
	switch name {
	case "set-cookie", "alt-svc", "strict-transport-security", "clear-site-data", "nel", "report-to", "reporting-endpoints":
		return true
	}
	return strings.HasPrefix(name, "access-control-")
}

// addGatewayHeaders adds the headers that every response has, once with the gateway's prefix and
// once with each alias.
func (c *clientHeaders) addGatewayHeaders(h wire.Header, x *exchange) wire.Header {
	start := len(h)
	h = append(h, wire.Field{Name: prefix + "trace-id", Value: x.trace.ID}, wire.Field{Name: prefix + "request-id", Value: x.id})
	h = c.limitHeader(h, x)
	if a := x.last; a != nil {
		if a.spec != nil {
			h = append(h, wire.Field{Name: prefix + "provider", Value: a.spec.ID})
		}
		h = append(h,
			wire.Field{Name: prefix + "last-used-option-index", Value: a.target.Path},
			wire.Field{Name: prefix + "retry-attempt-count", Value: small(a.retried)},
			wire.Field{Name: prefix + "cache-status", Value: cmp.Or(a.cacheStatus, cacheDisabled)})
		h = a.conversation.AppendHeader(h)
		if a.estimated && a.response.body != nil {
			h = append(h, wire.Field{Name: prefix + "estimated", Value: "true"})
		}
		if len(a.unsupported) > 0 {
			h = append(h, wire.Field{Name: prefix + "dropped-params", Value: droppedParams(a.unsupported)})
		}
	}
	if e := x.refusal; e != nil && e.Exception() {
		h = append(h, wire.Field{Name: prefix + "gateway-exception", Value: "true"})
	}
	for _, alias := range c.headerAliases {
		for _, f := range h[start:] {
			if rest, ok := strings.CutPrefix(f.Name, prefix); ok {
				h = append(h, wire.Field{Name: alias + rest, Value: f.Value})
			}
		}
	}
	return h
}

// droppedMax is the maximum length of a list of dropped fields, in bytes. There may be as many
// fields as a body has members, with names as long as the body.
const droppedMax = 4 << 10

// joinDropped joins the names of dropped fields for headers and records. A list that is too long
// ends with "...".
func joinDropped(dropped []string) string {
	var b strings.Builder
	for i, name := range dropped {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len()+len(name) > droppedMax {
			b.WriteString("...")
			break
		}
		b.WriteString(name)
	}
	return b.String()
}

// droppedParams returns the same list as a header value.
func droppedParams(dropped []string) string {
	s := joinDropped(dropped)
	if !wire.ValidValue(s) { // the caller chooses the names
		return "..."
	}
	return s
}

// small is strconv.Itoa for counts of retries, without allocating. A count above 9 is "9+".
func small(n int) string {
	if n >= -1 && n <= 9 {
		return [...]string{"-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}[n+1]
	}
	return "9+"
}
