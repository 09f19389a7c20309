package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sluice/internal/kernel/boundedcache"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/wire"
)

// Types of the body of an introspection.
const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// Limits of introspections.
const (
	maxActiveTokens  = 4096      // that are cached
	maxCachedToken   = 16 << 10  // bytes of a response that is cached
	maxIntrospection = 256 << 10 // bytes of a response
)

// tokenID identifies a token of an introspection endpoint: the hash of both and of the credentials.
type tokenID [sha256.Size]byte

// activeToken is a cached introspection.
type activeToken struct {
	token *verifiedToken
	until time.Time
}

// introspector lets the issuer judge tokens. Source: RFC 7662.
type introspector struct {
	service *service
	form    bool   // otherwise the body is JSON
	secret  string // value of the header authorization; empty without credentials
	maxAge  time.Duration
	now     func() time.Time
	parser  *jwt.Parser
	active  *boundedcache.Cache[tokenID, activeToken]
}

func newIntrospector(p Params, d *Deps, parser *jwt.Parser, active *boundedcache.Cache[tokenID, activeToken]) (verifier, error) {
	s, err := newService(p, d, "introspectEndpoint", tokenTimeout)
	if err != nil {
		return nil, err
	}
	s.maxBytes = maxIntrospection
	i := &introspector{
		service: s, form: p.Text("introspectContentType", jsonType) == formType, maxAge: seconds(p, "introspectCacheMaxAge", 0),
		now: clock(d), parser: parser, active: active,
	}
	if id := p.Text("introspectClientId", ""); id != "" {
		pair := url.QueryEscape(id) + ":" + url.QueryEscape(p.Text("introspectClientSecret", ""))
		i.secret = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	} else if p.Text("introspectClientSecret", "") != "" {
		return nil, invalidParameter("introspectClientSecret", "needs introspectClientId")
	}
	return i, nil
}

// verify returns the claims of an active token. It uses an earlier introspection for at most the time
// of introspectCacheMaxAge, and never after the token expires.
func (i *introspector) verify(ctx context.Context, token string) (*verifiedToken, error) {
	id := tokenID(sha256.Sum256([]byte(strconv.Itoa(len(i.service.url)) + " " + i.service.url + " " + i.secret + " " + token)))
	if known, ok := i.active.Get(id); ok && i.now().Before(known.until) {
		return known.token, nil
	}
	claims, size, err := i.introspect(ctx, token)
	if err != nil {
		return nil, err
	}
	if isActive, _ := claims["active"].(bool); !isActive {
		return nil, rejection("the token is not active")
	}
	verified := &verifiedToken{claims: claims, opaque: true}
	if parsed, _, err := i.parser.ParseUnverified(token, jwt.MapClaims{}); err == nil {
		verified.header = parsed.Header
	}
	until := i.now().Add(i.maxAge)
	if expires, ok := timeClaim(claims, "exp"); ok && expires.Before(until) {
		until = expires
	}
	if i.now().Before(until) && size <= maxCachedToken {
		i.active.Put(id, activeToken{verified, until})
	}
	return verified, nil
}

// introspect sends the token to the endpoint. It returns the claims and the size of the response.
func (i *introspector) introspect(ctx context.Context, token string) (claims map[string]any, size int, err error) {
	body, contentType := []byte(url.Values{"token": {token}}.Encode()), formType
	if !i.form {
		body, contentType = []byte(`{"token":`+string(jsonedit.Quote(token))+`}`), jsonType
	}
	h := wire.Header{{Name: "content-type", Value: contentType}, {Name: "accept", Value: jsonType}}
	if i.secret != "" {
		h.Set("authorization", i.secret)
	}
	resp, failed := i.service.send(ctx, "POST", h, body)
	switch {
	case failed != nil:
		return nil, 0, serviceFailure{failed}
	case resp.Status != 200:
		return nil, 0, serviceFailure{&Error{httpError, "the introspection has status " + strconv.Itoa(resp.Status) + "; it must have status 200"}}
	}
	decoder := json.NewDecoder(bytes.NewReader(resp.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&claims); err != nil {
		return nil, 0, serviceFailure{&Error{checkError, "the response of the introspection must be a JSON object"}}
	}
	return claims, len(resp.Body), nil
}
