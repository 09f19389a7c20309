package dataplane

import (
	"context"
	"net/url"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/provider/transport"
)

// followMost bounds the calls that one answer may take: a batch of Bedrock has a job, a
// list of files and the files.
const followMost = 32

// followed makes the further calls of an answer that stands in several places.
func (g *Gateway) followed(ctx context.Context, a *attempt, in *dialect.Incoming) error {
	f, ok := a.speech.unified.(dialect.Follower)
	if !ok {
		return nil
	}
	for range followMost {
		next, more, err := f.Follow(in)
		if err != nil {
			return fault.From(err)
		}
		if !more {
			return nil
		}
		b, err := g.ask(ctx, a, &next)
		if err != nil {
			return err
		}
		in.More = append(in.More, b)
	}
	return fault.Newf(fault.UpstreamInvalid, "%s names more than %d places for one answer", a.spec.ID, followMost)
}

// ask makes one further call and returns its answer.
func (g *Gateway) ask(ctx context.Context, a *attempt, n *dialect.Next) ([]byte, error) {
	method := first(n.Method, "GET")
	resp, err := g.askAt(ctx, a, n, method)
	if err != nil {
		return nil, gone(ctx, err)
	}
	return wholePart(a, resp, g.set.MaxReplyBytes, "a further call of this request")
}

// wholePart reads what a provider answered to a part of a request.
func wholePart(a *attempt, resp *transport.Response, limit int64, what string) ([]byte, error) {
	b, err := readAll(resp, limit)
	if err != nil {
		return nil, err
	}
	if resp.Status >= 400 {
		return nil, fault.Newf(fault.UpstreamFailed, "%s answered %s with status %d", a.spec.ID, what, resp.Status)
	}
	return b, nil
}

func (g *Gateway) askAt(ctx context.Context, a *attempt, n *dialect.Next, method string) (*transport.Response, error) {
	if n.URL != "" {
		return g.askURL(ctx, n, method)
	}
	plan, err := a.spec.Plan(provider.Call{Endpoint: n.Endpoint, Method: method, ID: url.PathEscape(n.ID), Model: a.model, CustomHost: a.customHost()}, a.values)
	if err != nil {
		return nil, err
	}
	if plan.Method = method; n.Path != "" || n.Query != "" {
		if err := plan.Reroute(n.Path, n.Query); err != nil {
			return nil, err
		}
	}
	a.plan, a.body, a.extra = plan, n.Body, n.Header
	if err := g.upstreamHeader(a); err != nil {
		return nil, err
	}
	if !n.Header.Has("content-type") { // the caller's was that of another body
		a.header.Del("content-type")
		if n.Body.Len() > 0 {
			a.header.Set("content-type", "application/json")
		}
	}
	return g.call(ctx, a, nil)
}

// askURL calls an address that the provider gave, without a credential.
func (g *Gateway) askURL(ctx context.Context, n *dialect.Next, method string) (*transport.Response, error) {
	r, err := g.outside(n.URL, fault.New(fault.UpstreamInvalid, "the provider names an address that is no http or https URL"))
	if err != nil {
		return nil, err
	}
	r.Method, r.Body, r.Header = method, n.Body, append(n.Header.Clone(1), r.Header...)
	r.HeadTimeout, r.IdleTimeout = g.set.HeadTimeout, g.set.IdleTimeout
	return g.Client.Do(ctx, r)
}

// lines gives a dialect the shapes that it meets in the lines of files.
func (t tongues) lines() *dialect.FileLines {
	l := &dialect.FileLines{Client: t.clients[llm.ChatComplete]}
	if d := t.dialects["anthropic"]; d != nil {
		l.Messages = d.Upstreams[llm.Messages]
	}
	return l
}
