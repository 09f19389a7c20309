package dataplane

import (
	"context"
	"net/url"

	"sluice/internal/provider"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// follow makes the second call of an endpoint that takes two, for example the
// output of a batch: the first answer names a file, which the second fetches. When
// it names none, its error field is the answer.
// Source: contract/providers.yaml, getBatchOutput.
func (g *Gateway) follow(ctx context.Context, a *attempt, body []byte) error {
	f := a.plan.Endpoint.Follow
	id := firstText(body, f.Fields)
	if id == "" {
		a.reply.body = body
		if raw, ok := splice.Find(body, f.Else); ok {
			a.reply.body = raw
		}
		return nil
	}
	plan, err := a.spec.Plan(provider.Call{Endpoint: f.Endpoint, Method: "GET", ID: url.PathEscape(id), CustomHost: a.customHost()}, a.values)
	if err != nil {
		return err
	}
	a.plan, a.body = plan, wire.Payload{}
	if err := g.upstreamHeader(a); err != nil {
		return err
	}
	a.close()
	if a.resp, err = g.call(ctx, a, nil); err != nil {
		return gone(ctx, err)
	}
	a.status, a.reply = a.resp.Status, reply{header: a.resp.Header, live: true}
	if a.status >= 400 {
		a.reply.live = false
		return g.normalise(ctx, a)
	}
	return nil
}

// firstText is the first of the fields that holds a text.
func firstText(body []byte, fields []string) string {
	for _, name := range fields {
		if s := splice.Text(body, name); s != "" {
			return s
		}
	}
	return ""
}
