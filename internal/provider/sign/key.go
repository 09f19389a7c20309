package sign

import (
	"context"
	"net/url"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// none sends no credential, for local engines such as Ollama.
type none struct{}

var _ Signer = none{}

// Sign does nothing.
func (none) Sign(context.Context, *Request, *provider.Auth, provider.Values) error { return nil }

// header sends the key in a header: "authorization: Bearer {key}", "x-api-key: {key}",
// "authorization: Token {key}". Without a key it sends nothing. The planning of the call has
// already checked whether a key is required.
type header struct{}

var _ Signer = header{}

// Sign sets the header and replaces an existing one.
func (header) Sign(_ context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	if t := a.Token; t != nil && strings.HasPrefix(v[provider.Key], t.Prefix) {
		return setToken(r, a, t, v[provider.Key])
	}
	return setHeader(r, a.Header, a.Format, v[provider.Key])
}

// setToken sends an access token only in the token's header, and adds the flag that the
// provider requires to the flags of the caller.
func setToken(r *Request, a *provider.Auth, t *provider.Token, key string) error {
	if err := setHeader(r, t.Header, t.Format, key); err != nil {
		return err
	}
	r.Header.Del(a.Header)
	if t.FlagHeader != "" {
		r.Header.Set(t.FlagHeader, withFlag(r.Header.Values(t.FlagHeader), t.Flag))
	}
	return nil
}

// withFlag joins the lines of a header with a comma-separated list, and adds flag when it is
// missing.
func withFlag(lines []string, flag string) string {
	var list []string
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if item = strings.TrimSpace(item); item != "" && item != flag {
				list = append(list, item)
			}
		}
	}
	return strings.Join(append(list, flag), ",")
}

// setHeader sets a header to format with {key} replaced.
func setHeader(r *Request, name, format, key string) error {
	if key == "" {
		return nil
	}
	if !wire.ValidValue(key) {
		return fault.New(fault.InvalidRequest, "the provider key must not contain control characters").WithParam("authorization")
	}
	before, after, _ := strings.Cut(format, "{key}")
	r.Header.Set(name, before+key+after)
	return nil
}

// query sends the key as a query parameter: "?key=…".
type query struct{}

var _ Signer = query{}

// Sign appends the parameter and removes all parameters of that name from the caller, escaped
// or not. The other parameters are byte-identical.
func (query) Sign(_ context.Context, r *Request, a *provider.Auth, v provider.Values) error {
	path, rest, _ := strings.Cut(r.Target, "?")
	var params []string
	for pair := range strings.SplitSeq(rest, "&") {
		if name, _, _ := strings.Cut(pair, "="); pair != "" && unescaped(name) != a.Query {
			params = append(params, pair)
		}
	}
	if key := v[provider.Key]; key != "" {
		params = append(params, a.Query+"="+url.QueryEscape(key))
	}
	r.Target = path
	if len(params) > 0 {
		r.Target += "?" + strings.Join(params, "&")
	}
	return nil
}
