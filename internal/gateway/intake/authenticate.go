package intake

import (
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/domain/audit"
	"sluice/internal/domain/keys"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// ErrToken is the cause of the rejection of a credential that is a JWT, not a key.
var ErrToken = errors.New("the credential is a JWT")

// Keys finds API keys in a snapshot of the control plane.
type Keys interface {
	FindKey(h keys.Hash) *keys.Entry // nil if not found
}

// RefusedTokens records rejected JWTs. TokenRefused is called while a request is served and must
// not block.
type RefusedTokens interface{ TokenRefused(r audit.RefusedToken) }

// Authenticator finds the callers of requests by their API keys. Safe for concurrent use.
type Authenticator struct {
	Hasher   *keys.Hasher
	Aliases  []string        // prefixes that callers may use instead of x-gateway-
	Metadata MetadataHeaders // headers whose values must be valid UTF-8, because they are recorded
	Tokens   RefusedTokens   // nil ignores rejected JWTs
}

// Arrival describes a request in the record of a rejected JWT.
type Arrival struct {
	Time      time.Time
	RequestID string
	Path      string // as logs may show it
}

// Authenticate finds the key of the caller. It is in x-gateway-api-key, else it is the bearer token
// of an OpenAI client, the x-api-key of an Anthropic client, the api-key of an Azure client or
// the x-goog-api-key of a Google client. Every header that contains the key is removed from req
// and o, so that it is never sent upstream. Errors: fault.InvalidRequest, fault.Unauthenticated,
// fault.KeyExpired and those of keys.Key.Check.
// Source: contract/dataplane.md 1.1; contract/identity-and-governance.md section 1.
func (a *Authenticator) Authenticate(dir Keys, req *wire.Request, o *call.Options, at Arrival) (*keys.Entry, error) {
	if n := o.Twice; n != "" {
		return nil, fault.Newf(fault.InvalidRequest, "%s was sent twice with different values; a proxy in between could have read the other one", n).WithParam(n)
	}
	if n := a.garbledHeader(req.Header, o); n != "" {
		return nil, fault.Newf(fault.InvalidRequest, "the header %s is not valid UTF-8; send it as UTF-8, because the request log stores its text", n).WithParam(n)
	}
	raw := o.Credential()
	if raw != "" {
		removeKey(req, o, raw)
	}
	if req.RawQuery != "" && raw != "" && inQuery(req.RawQuery, raw) {
		return nil, fault.New(fault.InvalidRequest, "the query contains the API key of this gateway, which would be sent to the provider; send it only in a header").WithParam("query")
	}
	e, err := a.findKey(dir, raw, at.Time)
	if errors.Is(err, ErrToken) && a.Tokens != nil {
		a.Tokens.TokenRefused(audit.RefusedToken{
			RefusedAt: at.Time, Remote: req.Remote, Method: req.Method, Path: at.Path, RequestID: at.RequestID, Reason: fault.From(err).Text(),
		})
	}
	return e, err
}

// Identify finds the key of a caller of the administration API, by the same rules. For JWTs the
// error has the cause ErrToken, and the caller of Identify must record it.
func (a *Authenticator) Identify(dir Keys, h wire.Header, now time.Time) (*access.Principal, error) {
	var o call.Options
	ReadOptions(&o, h, a.Aliases)
	if o.Twice != "" {
		return nil, fault.Newf(fault.InvalidRequest, "%s was sent twice with different values", o.Twice).WithParam(o.Twice)
	}
	e, err := a.findKey(dir, o.Credential(), now)
	if err != nil {
		return nil, err
	}
	return &e.Principal, nil
}

// findKey finds a raw key and checks that it is valid now.
func (a *Authenticator) findKey(dir Keys, raw string, now time.Time) (*keys.Entry, error) {
	switch {
	case raw == "":
		return nil, fault.New(fault.Unauthenticated, "API key is required; send it in the header x-gateway-api-key, or as a bearer token in Authorization").WithParam("x-gateway-api-key")
	case strings.Count(raw, ".") == 2:
		return nil, fault.New(fault.Unauthenticated, "JWT authentication is not configured on this deployment; use an API key").WithParam("x-gateway-api-key").WithCause(ErrToken)
	}
	h := a.Hasher.Sum(raw)
	e := dir.FindKey(h)
	if e == nil {
		return nil, fault.New(fault.Unauthenticated, "unknown API key; if Authorization contains a provider key, send the gateway key in x-gateway-api-key").WithParam("x-gateway-api-key")
	}
	if err := e.Key.Check(e.Status, now); err != nil {
		return nil, err
	}
	if p := e.Key.Previous; p != nil && p.Hash.Equal(h) && p.Until != nil && !now.Before(*p.Until) {
		return nil, fault.New(fault.KeyExpired, "a rotation replaced this value of the API key; use the new value")
	}
	return e, nil
}

// removeKey removes each header that contains the caller's key from the request, even if it also
// contains other data.
func removeKey(req *wire.Request, o *call.Options, raw string) {
	remaining := req.Header[:0]
	for _, f := range req.Header {
		if len(f.Value) < len(raw) || !strings.Contains(f.Value, raw) {
			remaining = append(remaining, f)
		}
	}
	req.Header = remaining
	if strings.Contains(o.Authorization, raw) {
		o.Authorization = ""
	}
	if strings.Contains(o.XAPIKey, raw) {
		o.XAPIKey = ""
	}
}

// inQuery reports whether a parameter of a query contains a text, escaped or not.
func inQuery(query, text string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		if plain, err := url.QueryUnescape(pair); strings.Contains(pair, text) || err == nil && strings.Contains(plain, text) {
			return true
		}
	}
	return false
}

// garbledHeader returns the name of a header that sets metadata or log fields and whose value is
// not valid UTF-8. It returns "" if all are valid.
func (a *Authenticator) garbledHeader(h wire.Header, c *call.Options) string {
	const prefix = call.HeaderPrefix
	baggage, err := url.PathUnescape(c.Baggage)
	if err != nil {
		baggage = c.Baggage // readMetadata omits entries that cannot be unescaped
	}
	for _, f := range [...]struct{ name, value string }{
		{prefix + "metadata", c.Metadata}, {prefix + "trace-id", c.TraceID}, {prefix + "span-id", c.SpanID}, {prefix + "span-name", c.SpanName},
		{prefix + "parent-span-id", c.ParentSpan}, {"traceparent", c.Traceparent}, {"baggage", baggage},
		{prefix + "runtime", c.Runtime}, {prefix + "runtime-version", c.RuntimeVersion}, {prefix + "package-version", c.PackageVersion},
	} {
		if !utf8.ValidString(f.value) {
			return f.name
		}
	}
	for _, from := range a.Metadata {
		if !utf8.ValidString(h.Get(from.Header)) {
			return from.Header
		}
	}
	return ""
}
