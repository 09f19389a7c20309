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

// jobAccess contains what the gateway needs to call the provider of a job: the caller's target
// and header, or a saved provider alone. It is immutable.
type jobAccess struct {
	header  wire.Header
	target  *routing.Target
	account string // slug that the caller named before the model
}

// accessOf returns the access of an attempt, with a copy of the caller's header.
func accessOf(a *attempt) *jobAccess {
	h := a.x.req.Header.Clone(0)
	for _, name := range [...]string{"content-type", "content-length", "content-encoding", "transfer-encoding", "expect", "accept-encoding"} {
		h.Del(name)
	}
	return &jobAccess{header: h, target: a.target, account: a.x.account}
}

// isPrivate reports whether the caller sent a part of the provider's credentials or address. The
// gateway does not store such values after the request.
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

// savedAccess returns the access to a job through its saved provider.
func savedAccess(j *jobs.Job) *jobAccess {
	b := &jobAccess{target: &routing.Target{Provider: "@" + j.ProviderID, Path: "job"}}
	if j.Proxied {
		b.header.Add(prefix+"passthrough", "true")
	}
	return b
}

// inside is the response to a call that the gateway makes for a job on its own initiative. The
// call is not recorded and counts against no limit. The user of the response must close it.
type inside struct {
	status int
	body   io.Reader
	close  func()
}

// callInside reads a path below /v1 at a provider. It runs the same steps as a caller's request,
// so the response has the caller's format, whatever the provider's format is.
func (g *Gateway) callInside(ctx context.Context, key *keys.Entry, by *jobAccess, path string) (*inside, error) {
	req := &wire.Request{Method: "GET", Path: "/v1" + path, Header: by.header.Clone(1)}
	x := g.newExchange(req, &collected{})
	g.open.Add(-1) // a draining gateway does not wait for it
	c := &inside{close: func() {
		x.close()
		x.scratch.release()
	}}
	x.ctl.Timeout = 0 // the timeout was for the caller's own request
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

// keyOf returns the key entry of the caller that created a job.
func keyOf(j *jobs.Job) *keys.Entry {
	return &keys.Entry{Principal: access.Principal{Kind: access.ByKey, ID: j.KeyID, Name: j.KeyName, OrgID: j.OrgID, WorkspaceID: j.WorkspaceID, UserID: j.UserID}}
}
