package check

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sluice/internal/gateway/guardrails/check/jwks"
	"sluice/internal/kernel/boundedcache"
)

// newVerifier returns the verifier of the one source that the parameters name.
func newVerifier(p Params, d *Deps, keys *jwks.Cache, active *boundedcache.Cache[tokenID, activeToken]) (verifier, error) {
	algorithms := p.List("algorithms")
	if len(algorithms) == 0 {
		algorithms = []string{"RS256"}
	}
	parser := jwt.NewParser(jwt.WithValidMethods(algorithms), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber(), jwt.WithStrictDecoding())
	sources := 0
	for _, name := range [...]string{"jwksUri", "jwks", "introspectEndpoint"} {
		if _, set := p[name]; set {
			sources++
		}
	}
	switch {
	case sources != 1:
		return nil, invalidParameter("jwksUri", "must be set, or one of jwks and introspectEndpoint in its place")
	case p.Object("jwks") != nil:
		return newInlineKeys(p, parser)
	case p.Text("jwksUri", "") != "":
		return newPublishedKeys(p, d, parser, keys)
	}
	return newIntrospector(p, d, parser, active)
}

// keyVerifier verifies signatures with a set of keys.
type keyVerifier struct {
	parser *jwt.Parser
	keys   func(ctx context.Context) (jwks.Set, error)
	// refresh returns keys that may be newer; nil if the set never changes.
	refresh func(ctx context.Context) (jwks.Set, error)
}

func newInlineKeys(p Params, parser *jwt.Parser) (verifier, error) {
	raw, err := json.Marshal(p.Object("jwks"))
	if err != nil {
		return nil, invalidParameter("jwks", "must be a JSON Web Key Set")
	}
	set, err := jwks.Parse(raw)
	if err != nil {
		return nil, invalidParameter("jwks", "must be valid: "+err.Error())
	}
	return &keyVerifier{parser: parser, keys: func(context.Context) (jwks.Set, error) { return set, nil }}, nil
}

func newPublishedKeys(p Params, d *Deps, parser *jwt.Parser, cache *jwks.Cache) (verifier, error) {
	s, err := newService(p, d, "jwksUri", tokenTimeout)
	if err != nil {
		return nil, err
	}
	s.maxBytes = jwks.MaxBytes
	source := &jwks.Source{URL: s.url, MaxAge: seconds(p, "cacheMaxAge", 86_400), Now: clock(d), Fetch: func(ctx context.Context) ([]byte, error) {
		resp, failed := s.send(ctx, "GET", nil, nil)
		switch {
		case failed != nil:
			return nil, serviceFailure{failed}
		case resp.Status != 200:
			return nil, serviceFailure{&Error{httpError, "the key set has status " + strconv.Itoa(resp.Status) + "; it must have status 200"}}
		}
		return resp.Body, nil
	}}
	return &keyVerifier{
		parser:  parser,
		keys:    func(ctx context.Context) (jwks.Set, error) { return cache.Keys(ctx, source) },
		refresh: func(ctx context.Context) (jwks.Set, error) { return cache.Refresh(ctx, source) },
	}, nil
}

// seconds returns a duration from a parameter.
func seconds(p Params, name string, otherwise float64) time.Duration {
	return time.Duration(p.Number(name, otherwise) * float64(time.Second))
}

// verify verifies the signature. If no key does, it tries once more with new keys.
func (k *keyVerifier) verify(ctx context.Context, token string) (*verifiedToken, error) {
	set, err := k.keys(ctx)
	if err != nil {
		return nil, err
	}
	verified, err := k.verifyWith(set, token)
	if err == nil || k.refresh == nil || !errors.Is(err, errSignature) && !errors.Is(err, errUnknownKey) {
		return verified, err
	}
	if set, err = k.refresh(ctx); err != nil {
		return nil, err
	}
	return k.verifyWith(set, token)
}

// Reasons why a token is rejected.
const (
	errUnknownKey = rejection("the token is signed with an unknown key")
	errSignature  = rejection("the signature of the token is not valid")
	errAlgorithm  = rejection("the algorithm of the token is not permitted")
	errNotToken   = rejection("the header does not contain a JSON Web Token")
	errCritical   = rejection("the token has critical header fields, which are not supported")
)

func (k *keyVerifier) verifyWith(set jwks.Set, token string) (*verifiedToken, error) {
	claims, reason := jwt.MapClaims{}, errAlgorithm
	parsed, err := k.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if _, has := t.Header["crit"]; has {
			reason = errCritical
			return nil, reason
		}
		id, _ := t.Header["kid"].(string)
		found := set.Find(id, t.Method.Alg())
		if len(found) == 0 {
			reason = errUnknownKey
			return nil, reason
		}
		reason = errSignature
		keys := jwt.VerificationKeySet{}
		for _, key := range found {
			keys.Keys = append(keys.Keys, key)
		}
		return keys, nil
	})
	switch {
	case err == nil:
		return &verifiedToken{header: parsed.Header, claims: claims}, nil
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, errNotToken
	}
	return nil, reason
}
