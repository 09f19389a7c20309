// Package outbound sends the requests of guardrail checks to external services. Addresses are checked
// before and when they are dialled, redirects are not followed, and responses are bounded.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
	"sluice/internal/provider/transport"
)

// Client sends requests. *transport.Client implements it.
type Client interface {
	Do(ctx context.Context, r *transport.Request) (*transport.Response, error)
}

// URLChecker checks the text of an address. *netguard.URLCache implements it.
type URLChecker interface {
	CheckURL(url string) error
}

// Services implements check.Services. It is safe for concurrent use.
type Services struct {
	Client    Client
	URLs      URLChecker
	Signers   *sign.Set // for Amazon services
	UserAgent string
}

// maxWait limits one call whose context has no deadline.
const maxWait = 5 * time.Minute

// ErrTooLarge means that the response of a service exceeds its limit.
var ErrTooLarge = errors.New("the response of the service is too large")

// Call implements check.Services.
func (s *Services) Call(ctx context.Context, r *check.ServiceRequest) (*check.ServiceResponse, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the URL of the service must use http or https and must not contain a user")
	}
	if err := s.URLs.CheckURL(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	h := r.Header.Clone(2)
	if !h.Has("user-agent") {
		h.Set("user-agent", s.UserAgent)
	}
	out := &transport.Request{Method: r.Method, Scheme: u.Scheme, Host: u.Host, Target: u.RequestURI(), Header: h, HeadTimeout: maxWait, IdleTimeout: maxWait}
	if len(r.Body) > 0 {
		out.Body = wire.Bytes(r.Body)
	}
	if r.AWS != nil {
		if err := s.sign(ctx, out, r.AWS); err != nil {
			return nil, err
		}
	}
	resp, err := s.Client.Do(ctx, out)
	if err != nil {
		return nil, err
	}
	limit := r.MaxBytes
	if limit <= 0 {
		limit = check.MaxServiceBytes
	}
	body, err := resp.ReadAll(limit)
	if errors.Is(err, wire.ErrTooLarge) {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		return nil, err
	}
	return &check.ServiceResponse{Status: resp.Status, Header: resp.Header, Body: body}, nil
}

// sign signs a request to an Amazon service.
func (s *Services) sign(ctx context.Context, r *transport.Request, c *check.AWSCredentials) error {
	if s.Signers == nil {
		return errors.New("requests to Amazon services cannot be signed here")
	}
	values := provider.Values{"aws_region": c.Region, "aws_access_key_id": c.AccessKeyID, "aws_secret_access_key": c.SecretAccessKey}
	if c.SessionToken != "" {
		values["aws_session_token"] = c.SessionToken
	}
	if c.RoleARN != "" {
		values["aws_auth_type"], values["aws_role_arn"] = "assumedRole", c.RoleARN
		if c.ExternalID != "" {
			values["aws_external_id"] = c.ExternalID
		}
	}
	req := sign.Request{Method: r.Method, Scheme: r.Scheme, Host: r.Host, Target: r.Target, Header: &r.Header, Body: r.Body}
	return s.Signers.Sign(ctx, &req, &provider.Auth{Scheme: "aws", Service: c.Service}, values)
}
