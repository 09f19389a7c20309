package dataplane

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
	"time"

	"sluice/internal/access"
	"sluice/internal/audit"
	"sluice/internal/fault"
	"sluice/internal/keys"
	"sluice/internal/llm"
	"sluice/internal/wire"
)

// identify finds the key of the caller. It is in x-gateway-api-key, else it is the bearer token
// of an OpenAI client, the x-api-key of an Anthropic client, the api-key of an Azure client or
// the x-goog-api-key of a Google client. Every header that contains the key is removed, so that
// it is never sent upstream.
// Source: contract/dataplane.md 1.1; contract/identity-and-governance.md section 1.
func (g *Gateway) identify(x *exchange) error {
	if n := x.ctl.twice; n != "" {
		return fault.Newf(fault.InvalidRequest, "%s was sent twice with different values; a proxy in between could have read the other one", n).WithParam(n)
	}
	if n := g.garbledHeader(x); n != "" {
		return fault.Newf(fault.InvalidRequest, "the header %s is not valid UTF-8; what it says is put on record, and would be another text there", n).WithParam(n)
	}
	raw := x.ctl.credential()
	if raw != "" {
		x.forget(raw)
	}
	if x.req.RawQuery != "" && raw != "" && inQuery(x.req.RawQuery, raw) {
		return fault.New(fault.InvalidRequest, "the query contains the API key of this gateway, which would be sent to the provider; send it only in a header").WithParam("query")
	}
	e, err := g.knownKey(x.dir, raw, x.started)
	if errors.Is(err, ErrToken) && g.Tokens != nil {
		g.Tokens.TokenRefused(audit.RefusedToken{
			RefusedAt: x.started, Remote: x.req.Remote, Method: x.req.Method, Path: x.shown, RequestID: x.id, Reason: fault.From(err).Text(),
		})
	}
	if err != nil {
		return err
	}
	x.key = e
	x.scope = x.dir.FindWorkspace(e.Principal.WorkspaceID)
	g.describeCall(x)
	return nil
}

// ErrToken is the cause of the rejection of a credential that is a JWT, not a key.
var ErrToken = errors.New("the credential is a JWT")

// refusals records rejected JWTs. TokenRefused is called while a request is served and must not
// block.
type refusals interface{ TokenRefused(r audit.RefusedToken) }

// Identify finds the key of a caller of the administration API, by the same rules. For JWTs the
// error has the cause ErrToken, and the caller of Identify must record it.
func (g *Gateway) Identify(h wire.Header) (*access.Principal, error) {
	var c controls
	c.read(h, g.set.HeaderAliases)
	if c.twice != "" {
		return nil, fault.Newf(fault.InvalidRequest, "%s was sent twice with different values", c.twice).WithParam(c.twice)
	}
	e, err := g.knownKey(g.Directory(), c.credential(), g.Clock.Now())
	if err != nil {
		return nil, err
	}
	return &e.Principal, nil
}

// credential returns the caller's key from the first header that has one.
func (c *controls) credential() string {
	return cmp.Or(c.apiKey, bearer(c.authorization), c.xAPIKey, c.azureKey, c.googleKey)
}

// knownKey finds a raw key and checks that it is valid now.
func (g *Gateway) knownKey(dir Directory, raw string, now time.Time) (*keys.Entry, error) {
	switch {
	case raw == "":
		return nil, fault.New(fault.Unauthenticated, "API key is required; send it in the header x-gateway-api-key, or as a bearer token in Authorization").WithParam("x-gateway-api-key")
	case strings.Count(raw, ".") == 2:
		return nil, fault.New(fault.Unauthenticated, "JWT authentication is not configured on this deployment; use an API key").WithParam("x-gateway-api-key").WithCause(ErrToken)
	}
	h := g.Hasher.Sum(raw)
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

// forget removes each header that contains the caller's key from the request, even if it also
// contains other data.
func (x *exchange) forget(raw string) {
	remaining := x.req.Header[:0]
	for _, f := range x.req.Header {
		if len(f.Value) < len(raw) || !strings.Contains(f.Value, raw) {
			remaining = append(remaining, f)
		}
	}
	x.req.Header = remaining
	if strings.Contains(x.ctl.authorization, raw) {
		x.ctl.authorization = ""
	}
	if strings.Contains(x.ctl.xAPIKey, raw) {
		x.ctl.xAPIKey = ""
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

// describeCall merges the metadata of the call.
func (g *Gateway) describeCall(x *exchange) {
	var workspaceDefaults map[string]string
	if x.scope != nil {
		workspaceDefaults = x.scope.Defaults.Metadata
	}
	m := readMetadata(&x.ctl, workspaceDefaults, x.key.Key.Defaults.Metadata)
	x.metadata = g.headersToMetadata(m, &x.req.Header)
	x.attribute(x.key.Principal.UserID)
}

// attribute adds the user of a user key to the metadata, as the workspace is configured. Source:
// contract/identity-and-governance.yaml, WorkspaceSettings.
func (x *exchange) attribute(user string) {
	if user == "" || x.scope != nil && !x.scope.Attributed {
		return
	}
	if x.scope != nil && !x.scope.Attributes {
		delete(x.metadata, "_user")
	}
	x.describeUser(user)
}

// describeUser adds a user to the metadata unless the caller named one.
func (x *exchange) describeUser(user string) {
	if user == "" || x.metadata["_user"] != "" {
		return
	}
	if x.metadata == nil {
		x.metadata = make(map[string]string, 1)
	}
	x.metadata["_user"] = shortened(user)
}

// authorise checks whether the type and scopes of the key permit this call.
func (g *Gateway) authorise(x *exchange) error {
	p := &x.key.Principal
	if x.asksModels() && p.Scopes.Has("models.list") {
		return access.CanCall(p, "models.list")
	}
	if p.IsAdminKey() && x.unknownPath() {
		x.unknown = true
		return fault.Newf(fault.UnknownRoute, "unknown path %s for an Admin key; /v1/openapi.json lists the admin routes, and provider calls require a workspace key", clip(x.shown))
	}
	return access.CanCall(p, access.CompletionsWrite)
}

// unknownPath reports whether the path is neither a model route nor a vendor's path, and no
// header sends it to a provider. With an Admin key it is a mistyped administration route.
func (x *exchange) unknownPath() bool {
	if x.match.Endpoint != llm.Proxy || isTrue(x.ctl.passthrough) {
		return false
	}
	if x.alias != nil && x.alias.Prefix != "/v1" {
		return false
	}
	named := x.ctl.provider != "" || x.ctl.virtualKey != ""
	return !named || x.path != "/collections" && !strings.HasPrefix(x.path, "/collections/")
}
