package check

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check/jwks"
	"sluice/internal/kernel/boundedcache"
	"sluice/internal/kernel/wire"
)

// jwtCheck passes requests with a valid token in a header: a JSON Web Token whose signature one of the
// keys verifies, or any token that an introspection endpoint calls active. The token is neither in the
// data nor in errors. Sources: RFC 7515, 7517, 7519 and 7662.
func jwtCheck() Check {
	keys := jwks.NewCache()
	active := boundedcache.New[tokenID, activeToken](maxActiveTokens)
	return Check{
		Definition: guardrail.Definition{ID: "default.jwt", Phases: inputPhase(), Params: jwtParams()},
		Textless:   true,
		New: func(p Params, d *Deps) (Runner, error) {
			verifier, err := newVerifier(p, d, keys, active)
			if err != nil {
				return nil, err
			}
			rules, err := newClaimRules(p, d)
			if err != nil {
				return nil, err
			}
			extracts, err := newClaimHeaders(p)
			if err != nil {
				return nil, err
			}
			name := p.Text("headerKey", "Authorization")
			if !wire.ValidName(name) {
				return nil, invalidParameter("headerKey", "must be a header name such as Authorization")
			}
			return &jwtRunner{header: strings.ToLower(name), verifier: verifier, rules: rules, extracts: extracts}, nil
		},
	}
}

func jwtParams() []param.Param {
	seconds := param.Number(0, 31_536_000)
	claimValues := param.MapOf(param.Fields(param.Required("values", plainForm), param.Optional("matchType", matchTypeForm())))
	return []param.Param{
		param.Optional("jwksUri", param.Link), param.Optional("jwks", param.Object), param.Optional("cacheMaxAge", seconds),
		param.Optional("introspectEndpoint", param.Link), param.Optional("introspectContentType", param.OneOf(jsonType, formType)),
		param.Optional("introspectCacheMaxAge", seconds), param.Optional("introspectClientId", param.Text(1024)), param.Optional("introspectClientSecret", param.Text(4096)),
		param.Optional("headerKey", param.Text(255)), param.Optional("algorithms", param.ListOf(jwks.Algorithms()...)),
		param.Optional("clockTolerance", param.Number(0, 3600)), param.Optional("maxTokenAge", param.Duration),
		param.Optional("requiredClaims", param.TextList), param.Optional("claimValues", claimValues), param.Optional("headerPayloadMatch", param.TextList),
		param.Optional("extractClaims", param.TextList), param.Optional("claimPrefix", param.Text(64)), param.Timeout,
	}
}

// tokenTimeout is the time limit of a call for keys or an introspection.
// Source: contract/dataplane.md 5.3, timeout.
const tokenTimeout = 5 * time.Second

// maxTokenBytes is the size of the largest token.
const maxTokenBytes = 16 << 10

type jwtRunner struct {
	header   string // name in lower case
	verifier verifier
	rules    *claimRules
	extracts []claimHeader
}

// verifier establishes whether a token is authentic.
type verifier interface {
	// verify returns the content of a token. The error is a rejection, a serviceFailure, or that of ctx.
	verify(ctx context.Context, token string) (*verifiedToken, error)
}

// verifiedToken is the content of an authentic token.
type verifiedToken struct {
	header map[string]any // nil for a token that is not a JSON Web Token
	claims map[string]any // numbers are json.Number
	opaque bool           // the claims are those of an introspection
}

// rejection is the reason why a token is not valid. It quotes no part of the token.
type rejection string

// Error implements error.
func (r rejection) Error() string { return string(r) }

// serviceFailure means that the keys or the introspection of a token were not available.
type serviceFailure struct{ cause *Error }

// Error implements error.
func (f serviceFailure) Error() string { return f.cause.Message }

// Run verifies the token in the header, then its claims.
func (j *jwtRunner) Run(ctx context.Context, in *Input) Result {
	data := report{"headerKey": j.header, "verdict": false}
	token, err := j.token(in.Header)
	var verified *verifiedToken
	if err == nil {
		verified, err = j.verifier.verify(ctx, token)
	}
	if err == nil {
		err = j.rules.judge(verified)
	}
	var failed serviceFailure
	var rejected rejection
	switch {
	case err == nil:
		data["verdict"], data["explanation"] = true, "the token is valid"
		return Result{Verdict: true, Data: data, Headers: headersOf(j.extracts, verified.claims)}
	case errors.As(err, &rejected):
		data["explanation"] = rejected.Error()
		return Result{Data: data}
	case errors.As(err, &failed):
		data["explanation"] = failed.Error()
		return Result{Error: failed.cause, Data: data}
	case errors.Is(err, jwks.ErrFormat), errors.Is(err, jwks.ErrNoKey):
		return errorResult(err.Error(), data)
	}
	data["explanation"] = "the token was not verified in time"
	return Result{Error: &Error{timeoutError, "the token was not verified in time"}, Data: data}
}

// token returns the token of a request, without the scheme Bearer.
func (j *jwtRunner) token(h wire.Header) (string, error) {
	values := h.Values(j.header)
	switch {
	case len(values) == 0 || strings.TrimSpace(values[0]) == "":
		return "", rejection("the request has no header " + j.header)
	case len(values) > 1:
		return "", rejection("the request has the header " + j.header + " more than once")
	}
	token := strings.TrimSpace(values[0])
	if scheme, rest, _ := strings.Cut(token, " "); strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	if token == "" || len(token) > maxTokenBytes || strings.ContainsAny(token, " \t") {
		return "", rejection("the header " + j.header + " must contain a token of at most 16384 characters")
	}
	return token, nil
}

// claimHeader is a header field with the value of a claim.
type claimHeader struct{ claim, name string }

// newClaimHeaders returns the header fields of the extracted claims. Their names begin with "x-", so
// that no claim takes the place of a credential or of a field that the gateway sets.
func newClaimHeaders(p Params) ([]claimHeader, error) {
	prefix := strings.ToLower(p.Text("claimPrefix", "x-jwt-"))
	if !strings.HasPrefix(prefix, "x-") || !wire.ValidName(prefix) {
		return nil, invalidParameter("claimPrefix", "must begin with x- and be a header name")
	}
	var out []claimHeader
	for _, claim := range p.List("extractClaims") {
		name := prefix + headerName(claim)
		if !param.MayForward(name) || wire.CredentialHeader(name) || wire.HopByHop(name) {
			return nil, invalidParameter("claimPrefix", "must not make "+name+", which is a header of the gateway or of a credential")
		}
		out = append(out, claimHeader{claim, name})
	}
	return out, nil
}

// headerName writes a claim as part of a header name: "https://a.example/role" becomes
// "https---a.example-role".
func headerName(claim string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && wire.ValidName(string(r)) {
			return r
		}
		return '-'
	}, strings.ToLower(claim))
}

// maxClaimHeader is the size of the largest value of a claim that becomes a header field.
const maxClaimHeader = 4096

// headersOf returns a field for each extracted claim. A claim that is missing, or that cannot be a
// header value, has an empty field: the client's own field of that name must not stay.
func headersOf(extracts []claimHeader, claims map[string]any) wire.Header {
	var h wire.Header
	for _, e := range extracts {
		h.Set(e.name, headerValue(claims[e.claim]))
	}
	return h
}

func headerValue(v any) string {
	text, isText := v.(string)
	if !isText && v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		text = string(raw)
	}
	if len(text) > maxClaimHeader || !wire.ValidValue(text) {
		return ""
	}
	return text
}
