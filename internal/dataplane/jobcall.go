package dataplane

import (
	"bytes"
	"context"
	"io"

	"sluice/internal/access"
	"sluice/internal/jobs"
	"sluice/internal/keys"
	"sluice/internal/routing"
	"sluice/internal/wire"
)

// jobAccess is by what a provider is called for a job: the target and the lines of the
// caller, or a saved provider alone. It never changes.
type jobAccess struct {
	header  wire.Header
	target  *routing.Target
	account string // slug that the caller named before the model
}

// accessOf is that of an attempt.
func accessOf(a *attempt) *jobAccess {
	h := a.x.req.Header.Clone(0)
	for _, name := range [...]string{"content-type", "content-length", "content-encoding", "transfer-encoding", "expect", "accept-encoding"} {
		h.Del(name)
	}
	return &jobAccess{header: h, target: a.target, account: a.x.account}
}

// isPrivate reports whether the caller brought a part of what the provider is called by, so
// that it is not known after the request.
func isPrivate(a *attempt) bool {
	if a.account == nil || a.customHost() != a.account.Values["custom_host"] {
		return true
	}
	for name, v := range a.values {
		if a.account.Values[name] != v {
			return true
		}
	}
	return false
}

// savedAccess is that of a job by a saved provider.
func savedAccess(j *jobs.Job) *jobAccess {
	b := &jobAccess{target: &routing.Target{Provider: "@" + j.ProviderID, Path: "job"}}
	if j.Proxied {
		b.header.Add(prefix+"passthrough", "true")
	}
	return b
}

// inside is the response to a call that the gateway makes for a job of its own accord. It
// is on no record, counts on no limit, and must be closed.
type inside struct {
	status int
	body   io.Reader
	close  func()
}

// callInside reads a path below /v1 at a provider, along the steps that a caller's request
// takes: so the response is in the caller's format, whichever that of the provider is.
func (g *Gateway) callInside(ctx context.Context, key *keys.Entry, by *jobAccess, path string) (*inside, error) {
	req := &wire.Request{Method: "GET", Path: "/v1" + path, Header: by.header.Clone(1)}
	x := g.newExchange(req, &collected{})
	g.open.Add(-1) // nobody waits for it when the gateway drains
	c := &inside{close: func() {
		x.close()
		x.scratch.release()
	}}
	x.ctl.timeout = 0 // that was for the caller's own request
	x.key, x.account, x.config = key, by.account, fromHeaders
	x.scope = x.dir.FindWorkspace(key.Principal.WorkspaceID)
	a := &x.scratch.attempt
	a.reset()
	a.x, a.target, a.started, x.last, x.attempts = x, by.target, g.Clock.Now(), a, 1
	for _, step := range [...]func(context.Context, *attempt) error{g.resolve, g.shape, g.send, g.receive} {
		if err := step(ctx, a); err != nil {
			c.close()
			return nil, err
		}
	}
	c.status = a.status
	if c.body = bytes.NewReader(a.response.body); a.response.live {
		c.body = a.resp.Body
	}
	return c, nil
}

// keyOf is the caller who created a job.
func keyOf(j *jobs.Job) *keys.Entry {
	return &keys.Entry{Principal: access.Principal{Kind: access.ByKey, ID: j.KeyID, Name: j.KeyName, OrgID: j.OrgID, WorkspaceID: j.WorkspaceID, UserID: j.UserID}}
}
