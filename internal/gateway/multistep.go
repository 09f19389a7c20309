package gateway

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/gateway/download"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
	"sluice/internal/provider/transport"
)

// maxFollowUps is the maximum number of follow-up calls for one response. A batch of Bedrock
// needs a job, a list of files and the files.
const maxFollowUps = 32

// followUpCaller makes the additional provider calls of an attempt.
type followUpCaller struct {
	responses        *responseReader
	maxResponseBytes int64
	clock            ident.Clock
	upstreamHeaders  *upstreamHeaders
	caller           *upstreamCaller
	downloads        *download.Downloader
	headTimeout      time.Duration
	idleTimeout      time.Duration
	client           *transport.Client
}

// fetchFollowUps makes the follow-up calls of a response that consists of several parts, and
// appends their bodies to incoming.More. responded reports that the last one is already the
// attempt's response, in the caller's format.
func (c *followUpCaller) fetchFollowUps(ctx context.Context, a *attempt, incoming *dialect.Incoming) (responded bool, err error) {
	f, ok := a.speech.unified.(dialect.MultiStep)
	if !ok {
		return false, nil
	}
	for range maxFollowUps {
		next, more, err := f.Follow(incoming)
		switch {
		case err != nil:
			return false, fault.From(err)
		case !more:
			return false, nil
		case next.File != nil:
			return true, c.followedFile(ctx, a, &next)
		}
		b, err := c.ask(ctx, a, &next)
		if err != nil {
			return false, err
		}
		incoming.More = append(incoming.More, b)
	}
	return false, fault.Newf(fault.UpstreamInvalid, "%s names more than %d URLs for one response", a.spec.ID, maxFollowUps)
}

// followedLive makes the one follow-up call whose response replaces the earlier one. The response
// is relayed as it arrives.
func (c *followUpCaller) followedLive(ctx context.Context, a *attempt, n *dialect.Next) error {
	resp, err := c.askAt(ctx, a, n, cmp.Or(n.Method, "GET"))
	if err != nil {
		return clientGone(ctx, err)
	}
	a.close()
	a.bodyReadAt = time.Time{}
	a.resp, a.status, a.response = resp, resp.Status, upstreamResponse{header: resp.Header, live: resp.Status < 400}
	if a.response.live {
		return nil
	}
	return c.responses.normalise(ctx, a)
}

// followedFile is followedLive for one or more files, translated to the caller's format as they
// arrive. It uses the header of the earlier response, because the file's header describes other
// bytes.
func (c *followUpCaller) followedFile(ctx context.Context, a *attempt, n *dialect.Next) error {
	head := a.response.header.Clone(1)
	if err := c.followedLive(ctx, a, n); err != nil || !a.response.live {
		return err
	}
	files := &endToEnd{Body: a.resp.Body, further: n.Further, open: func(url string) (transport.Body, error) {
		resp, err := c.askURL(ctx, &dialect.Next{URL: url}, "GET")
		switch {
		case err != nil:
			return nil, clientGone(ctx, err)
		case resp.Status >= 400:
			_ = resp.Body.Close()
			return nil, fault.Newf(fault.UpstreamFailed, "%s responded to the request for an additional file with status %d", a.spec.ID, resp.Status)
		}
		return resp.Body, nil
	}}
	a.resp.Body, a.resp.Length = &reworded{Body: files, translated: n.File(files)}, -1
	a.response.header = head
	a.response.header.Set("content-type", n.ContentType)
	a.response.header.Del("content-encoding")
	return nil
}

// resolveFollowUp relays the file that a response names, as the provider's spec defines, for
// example the output of a batch. When the response names none, a field of the response is
// returned instead.
// Source: contract/providers.yaml, getBatchOutput.
func (c *followUpCaller) resolveFollowUp(ctx context.Context, a *attempt, body []byte) error {
	f := a.plan.Endpoint.Follow
	if id := firstText(body, f.Fields); id != "" {
		return c.followedLive(ctx, a, &dialect.Next{Endpoint: f.Endpoint, ID: id})
	}
	a.response.body = body
	if raw, ok := jsonedit.Find(body, f.Else); ok {
		a.response.body = raw
	}
	return nil
}

// firstText returns the first of the fields that contains a string.
func firstText(body []byte, fields []string) string {
	for _, name := range fields {
		if s := jsonedit.Text(body, name); s != "" {
			return s
		}
	}
	return ""
}

// ask makes one follow-up call and returns the response body.
func (c *followUpCaller) ask(ctx context.Context, a *attempt, n *dialect.Next) ([]byte, error) {
	method := cmp.Or(n.Method, "GET")
	resp, err := c.askAt(ctx, a, n, method)
	if err != nil {
		return nil, clientGone(ctx, err)
	}
	return c.readFollowUpBody(a, resp, c.maxResponseBytes, "an additional call of this request")
}

// readFollowUpBody reads a provider's response to a part of a request. A status of 400 or above
// is an error.
func (c *followUpCaller) readFollowUpBody(a *attempt, resp *transport.Response, limit int64, what string) ([]byte, error) {
	b, err := readAll(resp, limit)
	a.bodyReadAt = c.clock.Now()
	if err != nil {
		return nil, err
	}
	if resp.Status >= 400 {
		return nil, fault.Newf(fault.UpstreamFailed, "%s responded to %s with status %d", a.spec.ID, what, resp.Status)
	}
	return b, nil
}

func (c *followUpCaller) askAt(ctx context.Context, a *attempt, n *dialect.Next, method string) (*transport.Response, error) {
	if n.URL != "" {
		return c.askURL(ctx, n, method)
	}
	if err := c.upstreamHeaders.setAddress(a, n, method); err != nil {
		return nil, err
	}
	return c.caller.call(ctx, a, nil)
}

// setAddress prepares a follow-up call as the attempt's next call.
func (u *upstreamHeaders) setAddress(a *attempt, n *dialect.Next, method string) error {
	plan, err := a.spec.Plan(provider.Call{Endpoint: n.Endpoint, Method: method, ID: url.PathEscape(n.ID), Model: a.model, CustomHost: a.customHost()}, a.values)
	if err != nil {
		return err
	}
	if plan.Method = method; n.Path != "" || n.Query != "" {
		if err := plan.Reroute(n.Path, n.Query); err != nil {
			return err
		}
	}
	a.plan, a.body, a.extra = plan, n.Body, n.Header
	if err := u.upstreamHeader(a); err != nil {
		return err
	}
	if !n.Header.Has("content-type") { // the caller's type describes another body
		a.header.Del("content-type")
		if n.Body.Len() > 0 {
			a.header.Set("content-type", "application/json")
		}
	}
	return nil
}

// askURL calls an address that the provider returned, without a credential.
func (c *followUpCaller) askURL(ctx context.Context, n *dialect.Next, method string) (*transport.Response, error) {
	r, err := c.downloads.Request(n.URL, fault.New(fault.UpstreamInvalid, "the provider returned an address that is not an http or https URL"))
	if err != nil {
		return nil, err
	}
	r.Method, r.Body, r.Header = method, n.Body, append(n.Header.Clone(1), r.Header...)
	r.HeadTimeout, r.IdleTimeout = c.headTimeout, c.idleTimeout
	return c.client.Do(ctx, r)
}

// lines returns the dialect parts for translating the lines of files.
func (t dialectSet) lines() *dialect.FileLines {
	l := &dialect.FileLines{Client: t.clients[llm.ChatComplete]}
	if d := t.dialects["anthropic"]; d != nil {
		l.Messages = d.Upstreams[llm.Messages]
	}
	return l
}
